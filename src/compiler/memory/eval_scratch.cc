#include "compiler/memory/eval_scratch.h"

#include <algorithm>
#include <vector>

#include "ir/node_descs.h"

namespace tim::compiler {

// The values that nodes of a body make stay until its end, the nodes run one
// after the other.
Result<int64_t> EvalScratchOf(const ir::Graph& graph, const ir::Node& node) {
  if (!node.composite) {
    return node.schema->memory_estimate(ir::NodeDescs(graph, node).view());
  }
  const ir::Graph& body = node.composite->body;
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       body.TopologicalOrder());
  int64_t held = 0;
  int64_t most = 0;
  for (const ir::NodeId id : order) {
    const ir::Node& part = body.node(id);
    for (const ir::ValueId output : part.outputs) {
      if (output == ir::kNone) continue;
      TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                           ir::ByteSize(body.value(output).desc));
      held += bytes;
    }
    TIM_ASSIGN_OR_RETURN(const int64_t scratch, EvalScratchOf(body, part));
    most = std::max(most, held + scratch);
  }
  return most;
}

Result<int64_t> EvalScratchBytes(const Module& module) {
  std::vector<int64_t> most(module.options.devices.size(), 0);
  for (const ir::NodeId id : module.graph.NodeIds()) {
    const Placement& placement = module.placements[id];
    if (placement.kind != RunKind::kEval) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         EvalScratchOf(module.graph, module.graph.node(id)));
    most[placement.device] = std::max(most[placement.device], bytes);
  }
  int64_t total = 0;
  for (const int64_t bytes : most) total += bytes;
  return total;
}

}  // namespace tim::compiler
