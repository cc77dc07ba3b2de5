// Copies of graphs: values and nodes numbered anew, the dead ones left out.
#include "ir/live_copy.h"

#include <algorithm>
#include <utility>

#include "ir/effect_order.h"

namespace tim::ir {
namespace {

class LiveCopier {
 public:
  LiveCopier(const Graph& graph, const std::vector<ValueId>& outputs)
      : graph_(graph),
        outputs_(outputs),
        copy_(graph.name()),
        needed_(graph.value_id_limit(), false),
        ids_(graph.value_id_limit(), kNone) {}

  Graph Run() {
    const std::vector<NodeId> live = LiveNodes();
    for (const ValueId id : graph_.ValueIds()) {
      if (IsKept(graph_.value(id))) CopyValue(id);
    }
    for (const NodeId id : live) CopyNode(graph_.node(id));
    for (const ValueId id : graph_.inputs()) copy_.AddInput(IdOf(id));
    for (const ValueId id : outputs_) copy_.AddOutput(IdOf(id));
    for (const auto& update : graph_.state_updates()) {
      copy_.AddStateUpdate(IdOf(update.state), IdOf(update.value));
    }
    return std::move(copy_);
  }

 private:
  void Need(ValueId id) {
    if (id != kNone) needed_[id] = true;
  }

  // In topological order; marks what they need.
  std::vector<NodeId> LiveNodes() {
    for (const ValueId id : outputs_) Need(id);
    for (const ValueId id : graph_.inputs()) Need(id);
    for (const auto& update : graph_.state_updates()) {
      Need(update.state);
      Need(update.value);
    }
    const Result<std::vector<NodeId>> order = graph_.TopologicalOrder();
    std::vector<NodeId> live;
    if (!order.ok()) return live;
    for (auto it = order->rbegin(); it != order->rend(); ++it) {
      const Node& node = graph_.node(*it);
      const bool is_live =
          HasOrderedEffects(node) ||
          std::any_of(node.outputs.begin(), node.outputs.end(),
                      [&](ValueId id) { return id != kNone && needed_[id]; });
      if (!is_live) continue;
      live.push_back(*it);
      for (const ValueId id : node.inputs) Need(id);
      for (const ValueId id : node.outputs) Need(id);
    }
    std::reverse(live.begin(), live.end());
    return live;
  }

  bool IsKept(const Value& value) const {
    return needed_[value.id] || value.role == Role::kState;
  }

  void CopyValue(ValueId id) {
    const Value& value = graph_.value(id);
    ids_[id] = copy_.AddValue(value.desc, value.role, value.name);
    Value& made = copy_.value(ids_[id]);
    made.is_scalar = value.is_scalar;
    made.shape_declared = value.shape_declared;
    made.preferred_shape = value.preferred_shape;
    made.constant = value.constant;
  }

  void CopyNode(Node node) {
    for (ValueId& id : node.inputs) id = IdOf(id);
    for (ValueId& id : node.outputs) id = IdOf(id);
    copy_.AddNode(std::move(node));
  }

  ValueId IdOf(ValueId id) const { return id == kNone ? kNone : ids_[id]; }

  const Graph& graph_;
  const std::vector<ValueId>& outputs_;
  Graph copy_;
  std::vector<bool> needed_;
  std::vector<ValueId> ids_;
};

}  // namespace

Graph LiveCopy(const Graph& graph, const std::vector<ValueId>& outputs) {
  return LiveCopier(graph, outputs).Run();
}

}  // namespace tim::ir
