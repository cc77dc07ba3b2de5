// Graphs that are being made, changed by replacements for matches of patterns.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/guarded.h"
#include "ir/pattern.h"
#include "values/access.h"
#include "values/graph_state.h"

namespace tim::values::internal {

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
  if (ordered()) held.push_back(order_);
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
  if (ordered()) order_ = held[next++];
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
  if (!graph_.HasValue(order_start_)) order_start_ = ir::kNone;
  const std::vector<ir::NodeId> left = graph_.NodeIds();
  if (std::none_of(left.begin(), left.end(), [&](ir::NodeId id) {
        return nodes_[static_cast<size_t>(id)]->ordered;
      })) {
    order_ = ir::kNone;
  }
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
  FillKnown(0, &edited);
  std::vector<ir::ValueId> held = Held();
  // Calls of `replace` are recorded into the graph that is searched.
  const auto record =
      [&](const ir::PatternMatch& match,
          ir::Graph* graph) -> Result<std::vector<ir::ValueId>> {
    const ir::ValueId first = graph->value_id_limit();
    std::swap(graph_, *graph);
    ir::PatternMatch here = match;
    here.graph = &graph_;
    auto ids = GuardedCall([&] { return IdsOf(replace(here)); });
    FillKnown(first, &graph_);
    std::swap(graph_, *graph);
    TIM_RETURN_IF_ERROR(status_);
    return ids;
  };
  auto report = ir::ReplaceMatches(pattern, record, max_rounds, &edited, &held);
  if (!report.ok()) {
    status_ = OkStatus();
    specs_.resize(values);
    nodes_.resize(nodes);
    std::tie(closed_, states_, own_, order_start_, order_, outside_) = brought;
    return report.status();
  }
  FillDeclared(&edited);
  graph_ = std::move(edited);
  SetHeld(held, std::get<1>(brought).size());
  ForgetUnused();
  as_node_ = nullptr;
  return report;
}

}  // namespace tim::values::internal
