#include <optional>
#include <utility>

#include "compiler/passes/passes.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;

// The padding that a node puts around its input.
std::optional<ir::Padding> PaddingOf(const Module& module, ir::NodeId id) {
  const Node& node = module.graph.node(id);
  if (node.composite || !node.schema->padding || IsPinned(module, id) ||
      !HasRankedOperands(module.graph, node)) {
    return std::nullopt;
  }
  return node.schema->padding(ir::NodeDescs(module.graph, node).view());
}

// Lets the node read its input 0 without the padding around it; false where
// there is none, or one that the node cannot make.
bool AbsorbOne(Module& module, ir::NodeId id) {
  Graph& graph = module.graph;
  const ir::ValueId padded = graph.node(id).inputs[0];
  if (padded == ir::kNone) return false;
  const ir::NodeId producer = graph.value(padded).producer;
  if (producer == ir::kNone) return false;
  const auto padding = PaddingOf(module, producer);
  if (!padding) return false;
  const Node& node = graph.node(id);
  auto attributes =
      node.schema->absorb_padding(ir::NodeDescs(graph, node).view(), *padding);
  if (!attributes) return false;
  const ir::ValueId inside = graph.node(producer).inputs[0];
  graph.node(id).attributes = *std::move(attributes);
  graph.SetInput(id, 0, inside);
  if (graph.value(padded).uses.empty() && !graph.IsLiveOut(padded)) {
    graph.RemoveNode(producer);
    graph.RemoveValue(padded);
  }
  return true;
}

}  // namespace

Status AbsorbPadding(Module& module) {
  Graph& graph = module.graph;
  for (const ir::NodeId id : graph.NodeIds()) {
    if (!graph.HasNode(id)) continue;
    const Node& node = graph.node(id);
    if (node.composite || !node.schema->absorb_padding || node.inputs.empty() ||
        !HasRankedOperands(graph, node)) {
      continue;
    }
    while (AbsorbOne(module, id)) {
    }
  }
  return OkStatus();
}

}  // namespace tim::compiler
