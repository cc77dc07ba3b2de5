// Graphs that are being made, changed by replacements for matches of patterns.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/guarded.h"
#include "ir/effect_order.h"
#include "ir/pattern.h"
#include "ir/replacement.h"
#include "values/access.h"
#include "values/graph_state.h"

namespace tim::values::internal {
namespace {

template <typename T>
bool Contains(const std::vector<T>& list, T what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

}  // namespace

Value GraphState::ValueOf(ir::ValueId id) { return MakeSymbolic(id); }

Node GraphState::NodeOf(ir::NodeId id) const {
  Node node("tim.Relu");
  Access::Set(node, nodes_[static_cast<size_t>(id)]);
  return node;
}

// Values that are read by more than nodes: outputs, states and the order first,
// which replacements may change, then inputs and values from outside.
std::vector<ir::ValueId> GraphState::Held() const {
  std::vector<ir::ValueId> held = outputs_;
  for (const State& state : states_) held.push_back(state.current);
  held.push_back(order_);
  held.insert(held.end(), inputs_.begin(), inputs_.end());
  for (const Closed& closed : closed_) held.push_back(closed.id);
  for (const State& state : states_) held.push_back(state.read);
  return held;
}

// Stores the values of Held() that replacements may have changed; `states` is
// the number of states at the time of that call.
void GraphState::SetHeld(const std::vector<ir::ValueId>& held, size_t states) {
  size_t next = 0;
  for (ir::ValueId& id : outputs_) id = held[next++];
  for (size_t i = 0; i < states; ++i) {
    const ir::ValueId id = held[next++];
    if (states_[i].written()) states_[i].current = id;
  }
  order_ = held[next++];
}

// Forgets values from outside that no node reads after replacements, and the
// order where none has one.
void GraphState::ForgetUnused() {
  std::erase_if(closed_, [&](const Closed& closed) {
    return !graph_.HasValue(closed.id);
  });
  std::erase_if(states_, [&](const State& state) {
    return !graph_.HasValue(state.read);
  });
  std::erase_if(outside_, [&](const auto& known) {
    return !graph_.HasValue(known.second);
  });
  const std::vector<ir::NodeId> left = graph_.NodeIds();
  if (std::none_of(left.begin(), left.end(), [&](ir::NodeId id) {
        return nodes_[static_cast<size_t>(id)]->ordered;
      })) {
    if (graph_.HasValue(order_start_)) graph_.RemoveValue(order_start_);
    order_ = ir::kNone;
  }
  if (!graph_.HasValue(order_start_)) order_start_ = ir::kNone;
}

void GraphState::FillKnown(ir::ValueId first, ir::Graph* graph) const {
  for (ir::ValueId id = first; id < graph->value_id_limit(); ++id) {
    if (!graph->HasValue(id)) continue;
    const TensorSpec& spec = specs_[static_cast<size_t>(id)];
    graph->value(id).desc = spec.desc;
    graph->value(id).is_scalar = spec.is_scalar;
  }
}

// Facts of results are those that their calls declared, nothing inferred.
void GraphState::FillDeclared(ir::Graph* graph) const {
  for (const ir::ValueId id : graph->ValueIds()) {
    ir::Value& value = graph->value(id);
    if (value.producer == ir::kNone) continue;
    value.desc = nodes_[static_cast<size_t>(value.producer)]
                     ->outputs[static_cast<size_t>(value.producer_index)];
    value.is_scalar = false;
  }
}

Result<std::vector<ir::NodeId>> GraphState::OrderedOf(
    const ir::PatternMatch& match) const {
  std::vector<ir::NodeId> ordered = match.nodes;
  std::erase_if(ordered, [&](ir::NodeId id) {
    return !graph_.HasNode(id) || !nodes_[static_cast<size_t>(id)]->ordered;
  });
  if (ordered.size() < 2) return ordered;
  TIM_ASSIGN_OR_RETURN(std::vector<ir::NodeId> all, graph_.TopologicalOrder());
  std::erase_if(all, [&](ir::NodeId id) { return !Contains(ordered, id); });
  return all;
}

void GraphState::AddEffects(const ir::PatternMatch& match, ir::NodeId first,
                            std::vector<ir::NodeId>* order) const {
  std::vector<ir::NodeId> added;
  for (ir::NodeId id = first; id < graph_.node_id_limit(); ++id) {
    if (graph_.HasNode(id) && ir::HasOrderedEffects(graph_.node(id))) {
      added.push_back(id);
    }
  }
  auto at = std::find_if(order->rbegin(), order->rend(), [&](ir::NodeId id) {
    return Contains(match.nodes, id);
  });
  if (at == order->rend()) at = order->rbegin();
  order->insert(at.base(), added.begin(), added.end());
}

void GraphState::SetEffectOrder(std::vector<ir::NodeId> order,
                                ir::Graph* graph) {
  std::erase_if(order, [&](ir::NodeId id) { return !graph->HasNode(id); });
  for (const auto& [from, to] : ir::SetEffectOrder(order, graph)) {
    nodes_.resize(static_cast<size_t>(to) + 1);
    nodes_[static_cast<size_t>(to)] = nodes_[static_cast<size_t>(from)];
  }
}

// The match's nodes with ordered effects go, where nothing else reads their
// results, and those of the replacement come where the last of them was.
Result<ir::Replacement> GraphState::ReplacementOf(
    const ir::PatternMatch& match, const std::vector<ir::ValueId>& live,
    const std::function<std::vector<Value>(const ir::PatternMatch&)>& replace) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> ordered, OrderedOf(match));
  ir::Replacement made;
  const ir::NodeId first_new = graph_.node_id_limit();
  const ir::ValueId last_order = order_;
  ir::ValueId begin = ir::kNone;
  if (!ordered.empty()) {
    const std::byte zero{0};
    begin = AddConstant(OrderSpec(), ir::MakeConstant(&zero, 1), "order");
    order_ = begin;
  }
  TIM_ASSIGN_OR_RETURN(made.outputs, IdsOf(replace(match)));
  const auto order_of = [&](ir::NodeId id) {
    return graph_.node(id).outputs.back();
  };
  // Whether nothing reads the node once the replacement is there.
  const std::function<bool(ir::NodeId)> goes = [&](ir::NodeId id) {
    if (!Contains(match.nodes, id)) return false;
    for (const ir::ValueId output : graph_.node(id).outputs) {
      if (output == ir::kNone) continue;
      if (Contains(ordered, id) && output == order_of(id)) continue;
      if (Contains(made.outputs, output)) return false;
      if (id != match.root && Contains(live, output)) return false;
      for (const ir::Use& use : graph_.value(output).uses) {
        if (use.node >= first_new) return false;
        if (id != match.root && !goes(use.node)) return false;
      }
    }
    return true;
  };
  for (const ir::NodeId id : match.nodes) {
    if (graph_.HasNode(id) && ir::HasOrderedEffects(graph_.node(id)) &&
        goes(id)) {
      made.removed.push_back(id);
    }
  }
  if (ordered.empty()) {
    made.exchanged = {{last_order, order_}};
    return made;
  }
  const auto before = [&](ir::NodeId id) {
    ir::ValueId order = graph_.node(id).inputs.back();
    while (Contains(made.removed, graph_.value(order).producer)) {
      order = graph_.node(graph_.value(order).producer).inputs.back();
    }
    return order;
  };
  const auto left_by = [&](ir::NodeId id) {
    return Contains(made.removed, id) ? before(id) : order_of(id);
  };
  const ir::ValueId start = left_by(ordered.back());
  const ir::ValueId end = order_ == begin ? start : order_;
  graph_.ReplaceUses(begin, start);
  graph_.RemoveValue(begin);
  for (const ir::NodeId id : ordered) {
    made.exchanged.emplace_back(order_of(id),
                                id == ordered.back() ? end : left_by(id));
  }
  return made;
}

Result<ir::ReplaceReport> GraphState::Replace(
    const ir::Pattern& pattern,
    const std::function<std::vector<Value>(const ir::PatternMatch&)>& replace,
    int max_rounds) {
  TIM_RETURN_IF_ERROR(status_);
  const size_t values = specs_.size();
  const size_t nodes = nodes_.size();
  const auto brought =
      std::tuple(closed_, states_, own_, order_start_, order_, outside_);
  ir::Graph edited = graph_;
  std::swap(graph_, edited);
  order_ = OrderBefore();
  std::swap(graph_, edited);
  FillKnown(0, &edited);
  std::vector<ir::ValueId> held = Held();
  std::vector<ir::NodeId> effects = ir::EffectOrder(edited);
  const size_t order_at = outputs_.size() + states_.size();
  // Calls of `replace` are recorded into the graph that is searched.
  const auto record = [&](const ir::PatternMatch& match,
                          const std::vector<ir::ValueId>& live,
                          ir::Graph* graph) -> Result<ir::Replacement> {
    const ir::ValueId first = graph->value_id_limit();
    const ir::NodeId first_node = graph->node_id_limit();
    std::swap(graph_, *graph);
    ir::PatternMatch here = match;
    here.graph = &graph_;
    order_ = live[order_at];
    auto made = GuardedCall([&] { return ReplacementOf(here, live, replace); });
    FillKnown(first, &graph_);
    AddEffects(here, first_node, &effects);
    std::swap(graph_, *graph);
    TIM_RETURN_IF_ERROR(status_);
    return made;
  };
  auto report =
      ir::ReplaceMatchesBy(pattern, record, max_rounds, &edited, &held);
  if (!report.ok()) {
    status_ = OkStatus();
    specs_.resize(values);
    nodes_.resize(nodes);
    std::tie(closed_, states_, own_, order_start_, order_, outside_) = brought;
    return report.status();
  }
  SetEffectOrder(std::move(effects), &edited);
  FillDeclared(&edited);
  graph_ = std::move(edited);
  SetHeld(held, std::get<1>(brought).size());
  ForgetUnused();
  as_node_ = nullptr;
  return report;
}

}  // namespace tim::values::internal
