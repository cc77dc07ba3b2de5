#include "compiler/memory/eval_scratch.h"

#include <algorithm>
#include <vector>

#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

// As ir::Evaluate runs it: the values that nodes of a body make stay until its
// end, the nodes run one after the other.
Result<int64_t> ScratchOf(const ir::Graph& graph, const ir::Node& node) {
  if (!node.composite) {
    return node.schema->memory_estimate(ir::NodeDescs(graph, node).view());
  }
  const ir::Graph& body = node.composite->body;
  int64_t values = 0;
  int64_t most = 0;
  for (const ir::NodeId id : body.NodeIds()) {
    const ir::Node& part = body.node(id);
    for (const ir::ValueId output : part.outputs) {
      if (output == ir::kNone) continue;
      TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                           ir::ByteSize(body.value(output).desc));
      values += bytes;
    }
    TIM_ASSIGN_OR_RETURN(const int64_t scratch, ScratchOf(body, part));
    most = std::max(most, scratch);
  }
  return values + most;
}

}  // namespace

Result<int64_t> EvalScratchBytes(const Module& module) {
  std::vector<int64_t> most(module.options.devices.size(), 0);
  for (const ir::NodeId id : module.graph.NodeIds()) {
    const Placement& placement = module.placements[id];
    if (placement.kind != RunKind::kEval) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ScratchOf(module.graph, module.graph.node(id)));
    most[placement.device] = std::max(most[placement.device], bytes);
  }
  int64_t total = 0;
  for (const int64_t bytes : most) total += bytes;
  return total;
}

}  // namespace tim::compiler
