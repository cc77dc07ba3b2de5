// Estimates the work of nodes for the notes of plans.
#include "compiler/step_work.h"

#include <string>
#include <string_view>
#include <utility>

#include "compiler/candidates.h"
#include "ir/node_descs.h"
#include "ir/tensor_desc.h"

namespace tim::compiler {
namespace {

// A gather reads a part of its operands.
double BytesOf(const ir::Graph& graph, const ir::Node& node) {
  if (!node.composite) {
    const ir::ComputeEstimate work = ir::EstimateOf(graph, node);
    const double bytes = work.bytes_read + work.bytes_written;
    if (bytes > 0) return bytes;
  }
  double bytes = 0;
  for (const auto* ids : {&node.inputs, &node.outputs}) {
    for (const ir::ValueId id : *ids) {
      if (id == ir::kNone) continue;
      const auto size = ir::ByteSize(graph.value(id).desc);
      if (size.ok()) bytes += static_cast<double>(*size);
    }
  }
  return bytes;
}

}  // namespace

ir::PlanNotes::Work WorkOf(const ir::Graph& graph, const ir::Node& node) {
  constexpr std::string_view kOwn = "tim.";
  std::string op = KernelOpName(node);
  if (op.starts_with(kOwn)) op.erase(0, kOwn.size());
  return {.op = std::move(op),
          .operations = ir::EstimateOf(graph, node).flops,
          .bytes = BytesOf(graph, node)};
}

}  // namespace tim::compiler
