// Finds the order of effects by the ids of nodes, and keeps it where edits give
// them others.
#include "ir/effect_order.h"

#include <algorithm>

#include "ir/op_schema.h"

namespace tim::ir {
namespace {

enum class Visit : unsigned char { kNone, kOpen, kDone };

// Nodes with ordered effects, ascending.
std::vector<NodeId> NodesWithEffects(const Graph& graph) {
  std::vector<NodeId> found;
  for (NodeId id = 0; id < graph.node_id_limit(); ++id) {
    if (graph.HasNode(id) && HasOrderedEffects(graph.node(id))) {
      found.push_back(id);
    }
  }
  return found;
}

}  // namespace

bool HasOrderedEffects(const Node& node) {
  if (node.schema != nullptr && node.schema->effects.ordered) return true;
  if (node.composite == nullptr && !ControlOf(node)) return false;
  const std::vector<const Graph*> graphs = NestedGraphs(node);
  return std::any_of(graphs.begin(), graphs.end(), [](const Graph* graph) {
    return !NodesWithEffects(*graph).empty();
  });
}

// Depth first: what a node needs is done before it.
std::vector<NodeId> EffectOrder(const Graph& graph) {
  const std::vector<NodeId> found = NodesWithEffects(graph);
  if (found.size() < 2) return found;
  const auto limit = static_cast<size_t>(graph.node_id_limit());
  std::vector<bool> wanted(limit, false);
  for (const NodeId id : found) wanted[static_cast<size_t>(id)] = true;
  std::vector<Visit> visits(limit, Visit::kNone);
  std::vector<NodeId> order;
  for (const NodeId first : found) {
    std::vector<NodeId> open = {first};
    while (!open.empty()) {
      const NodeId id = open.back();
      Visit& visit = visits[static_cast<size_t>(id)];
      if (visit != Visit::kNone) {
        open.pop_back();
        if (visit == Visit::kOpen && wanted[static_cast<size_t>(id)]) {
          order.push_back(id);
        }
        visit = Visit::kDone;
        continue;
      }
      visit = Visit::kOpen;
      const std::vector<ValueId>& inputs = graph.node(id).inputs;
      for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
        if (*input == kNone) continue;
        const NodeId producer = graph.value(*input).producer;
        if (producer != kNone &&
            visits[static_cast<size_t>(producer)] == Visit::kNone) {
          open.push_back(producer);
        }
      }
    }
  }
  return order;
}

EffectChain::EffectChain(const Graph& graph) {
  const std::vector<NodeId> order = EffectOrder(graph);
  if (order.size() < 2) return;
  const auto limit = static_cast<size_t>(graph.node_id_limit());
  before_.assign(limit, kNone);
  after_.assign(limit, kNone);
  for (size_t i = 1; i < order.size(); ++i) {
    before_[static_cast<size_t>(order[i])] = order[i - 1];
    after_[static_cast<size_t>(order[i - 1])] = order[i];
  }
}

std::vector<std::pair<NodeId, NodeId>> SetEffectOrder(
    const std::vector<NodeId>& order, Graph* graph) {
  std::vector<std::pair<NodeId, NodeId>> moved;
  NodeId last = kNone;
  for (const NodeId id : order) {
    if (id > last) {
      last = id;
      continue;
    }
    Node node = graph->node(id);
    graph->RemoveNode(id);
    last = graph->AddNode(std::move(node));
    moved.emplace_back(id, last);
  }
  return moved;
}

}  // namespace tim::ir
