// Gathers descriptions of operands, and sums estimates over nodes and bodies.
#include "ir/node_descs.h"

namespace tim::ir {

NodeDescs::NodeDescs(const Graph& graph, const Node& node) : node_(node) {
  const auto desc_of = [&graph](ValueId id) {
    return id == kNone ? nullptr : &graph.value(id).desc;
  };
  for (const ValueId id : node.inputs) inputs_.push_back(desc_of(id));
  for (const ValueId id : node.outputs) outputs_.push_back(desc_of(id));
}

void Add(const ComputeEstimate& more, ComputeEstimate* sum) {
  sum->flops += more.flops;
  sum->bytes_read += more.bytes_read;
  sum->bytes_written += more.bytes_written;
}

ComputeEstimate EstimateOf(const Graph& graph, const Node& node) {
  if (node.composite) return EstimateOf(node.composite->body);
  if (node.schema == nullptr || !node.schema->compute_estimate) return {};
  return node.schema->compute_estimate(NodeDescs(graph, node).view());
}

ComputeEstimate EstimateOf(const Graph& graph) {
  ComputeEstimate sum;
  for (const NodeId id : graph.NodeIds()) {
    Add(EstimateOf(graph, graph.node(id)), &sum);
  }
  return sum;
}

}  // namespace tim::ir
