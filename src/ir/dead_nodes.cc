// Removes dead nodes, the last ones first.
#include "ir/dead_nodes.h"

#include <algorithm>
#include <vector>

#include "ir/effect_order.h"

namespace tim::ir {
namespace {

bool IsNeeded(const Graph& graph, const Node& node,
              const std::vector<bool>& lives_out) {
  if (HasOrderedEffects(node)) return true;
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
    return id != kNone && (!graph.value(id).uses.empty() || lives_out[id]);
  });
}

std::vector<bool> LivesOut(const Graph& graph) {
  std::vector<bool> out(graph.value_id_limit(), false);
  for (const ValueId id : graph.outputs()) out[id] = true;
  for (const auto& update : graph.state_updates()) {
    out[update.state] = out[update.value] = true;
  }
  return out;
}

}  // namespace

Status RemoveDeadNodes(Graph* graph, const std::vector<ValueId>& live) {
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                       graph->TopologicalOrder());
  std::vector<bool> kept = LivesOut(*graph);
  for (const ValueId id : live) kept[id] = true;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!IsNeeded(*graph, graph->node(*it), kept)) graph->RemoveNode(*it);
  }
  for (const ValueId id : graph->inputs()) kept[id] = true;
  for (const ValueId id : graph->ValueIds()) {
    const Value& value = graph->value(id);
    if (kept[id] || value.producer != kNone || !value.uses.empty()) continue;
    if (value.role != Role::kState) graph->RemoveValue(id);
  }
  return OkStatus();
}

}  // namespace tim::ir
