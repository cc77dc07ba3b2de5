// Minimises the sum of kernel and move costs over the whole graph.
//
// Nodes are visited in topological order.  A state is, for each live value,
// the set of locations where it is; states that agree on these are merged,
// the cheaper one kept, so the search is exact as long as there are no more
// than kBeam different states at any point, and linear in the graph always.
#include "compiler/location_search.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ports.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

constexpr size_t kBeam = 64;

struct State {
  double cost = 0;
  int parent = -1;     // in the states of the node before
  int candidate = -1;  // of this node
  // per live value; dropped once the next node is done
  std::vector<LocationSet> sets;
};

class Search {
 public:
  Search(const Module& module, LocationTable& locations)
      : module_(module), graph_(module.graph), locations_(locations) {}

  Status Run(const std::vector<ir::NodeId>& order) {
    CountUses(order);
    Begin();
    for (const ir::NodeId id : order) {
      TIM_RETURN_IF_ERROR(Visit(graph_.node(id)));
    }
    return OkStatus();
  }

  // The best for each visited node, in order.
  LocationChoice Best() {
    std::vector<State>& last = history_.back();
    int index = 0;
    double best = 0;
    for (int i = 0; i < static_cast<int>(last.size()); ++i) {
      const double total = last[i].cost + OutputCost(last[i]);
      if (i == 0 || total < best) {
        best = total;
        index = i;
      }
    }
    LocationChoice choice;
    choice.chosen.resize(nodes_.size());
    for (size_t n = nodes_.size(); n-- > 0;) {
      const State& state = history_[n + 1][index];
      choice.chosen[n] = nodes_[n].candidates[state.candidate];
      choice.decisions.push_back(MakeDecision(n, state.candidate));
      index = state.parent;
    }
    std::reverse(choice.decisions.begin(), choice.decisions.end());
    return choice;
  }

 private:
  void CountUses(const std::vector<ir::NodeId>& order) {
    uses_left_.assign(graph_.value_id_limit(), 0);
    for (const ir::NodeId id : order) {
      for (const ValueId input : graph_.node(id).inputs) {
        if (input != ir::kNone) ++uses_left_[input];
      }
    }
    for (const ValueId id : graph_.outputs()) ++uses_left_[id];
    for (const auto& update : graph_.state_updates()) {
      ++uses_left_[update.value];
    }
  }

  void Begin() {
    State start;
    const auto& inputs = graph_.inputs();
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      AddLive(inputs[i], InputLocations(module_, locations_, i), &start);
    }
    for (const ValueId id : graph_.ValueIds()) {
      if (graph_.value(id).role != ir::Role::kState) continue;
      const int home =
          locations_.Intern({module_.HomeOf(id), ir::Layout::Dense()});
      AddLive(id, LocationSet(home), &start);
    }
    history_.push_back({start});
  }

  void AddLive(ValueId id, const LocationSet& locations, State* state) {
    if (uses_left_[id] == 0) return;
    live_.push_back(id);
    state->sets.push_back(locations);
  }

  double Bytes(ValueId id) const {
    const Result<int64_t> bytes = ir::ByteSize(graph_.value(id).desc);
    return bytes.ok() ? static_cast<double>(*bytes) : 0;
  }

  // Position of a value among the live ones, -1 for constants.
  int LiveIndex(ValueId id) const {
    const auto it = std::find(live_.begin(), live_.end(), id);
    return it != live_.end() ? static_cast<int>(it - live_.begin()) : -1;
  }

  Status Visit(const Node& node) {
    TIM_ASSIGN_OR_RETURN(NodeCandidates found,
                         EnumerateCandidates(module_, node, locations_));
    std::vector<int> inputs;
    for (const ValueId input : node.inputs) {
      inputs.push_back(input == ir::kNone ? -1 : LiveIndex(input));
    }
    for (const ValueId input : node.inputs) {
      if (input != ir::kNone) --uses_left_[input];
    }
    std::vector<State> next = Extend(node, found, inputs);
    nodes_.push_back(std::move(found));
    RemoveDead(node, next);
    Merge(next);
    for (State& state : history_.back()) state.sets = {};
    history_.push_back(std::move(next));
    return OkStatus();
  }

  std::vector<State> Extend(const Node& node, const NodeCandidates& found,
                            const std::vector<int>& inputs) {
    std::vector<State> next;
    const std::vector<State>& states = history_.back();
    for (int s = 0; s < static_cast<int>(states.size()); ++s) {
      for (int c = 0; c < static_cast<int>(found.candidates.size()); ++c) {
        const Candidate& candidate = found.candidates[c];
        State state{states[s].cost + candidate.cost, s, c, states[s].sets};
        for (size_t i = 0; i < inputs.size(); ++i) {
          if (inputs[i] < 0) continue;
          LocationSet& set = state.sets[inputs[i]];
          for (const Move& move :
               Route(module_, locations_, set, candidate.inputs[i],
                     Bytes(node.inputs[i]), &state.cost)) {
            set.Add(move.to);
          }
        }
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          if (node.outputs[i] == ir::kNone) continue;
          state.sets.emplace_back(candidate.outputs[i]);
        }
        next.push_back(std::move(state));
      }
    }
    return next;
  }

  // Appends the node's outputs to the live values, drops what nobody reads.
  void RemoveDead(const Node& node, std::vector<State>& states) {
    for (const ValueId output : node.outputs) {
      if (output != ir::kNone) live_.push_back(output);
    }
    for (size_t i = live_.size(); i-- > 0;) {
      if (uses_left_[live_[i]] > 0) continue;
      live_.erase(live_.begin() + i);
      for (State& state : states) state.sets.erase(state.sets.begin() + i);
    }
  }

  static void Merge(std::vector<State>& states) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < states.size(); ++i) {
      order.emplace_back(states[i].cost, i);
    }
    std::sort(order.begin(), order.end());
    std::set<std::vector<LocationSet>> seen;
    std::vector<State> kept;
    for (const auto& [cost, index] : order) {
      if (kept.size() == kBeam) break;
      State& state = states[index];
      if (!seen.insert(state.sets).second) continue;
      kept.push_back(std::move(state));
    }
    states = std::move(kept);
  }

  // Outputs leave as their ports are.
  double OutputCost(const State& state) {
    double cost = 0;
    const auto& outputs = graph_.outputs();
    for (int i = 0; i < static_cast<int>(outputs.size()); ++i) {
      const ValueId id = outputs[i];
      const int index = LiveIndex(id);
      if (index < 0) continue;
      const int target =
          OutputTarget(module_, locations_, i, state.sets[index]);
      Route(module_, locations_, state.sets[index], target, Bytes(id), &cost);
    }
    return cost;
  }

  ir::Decision MakeDecision(size_t n, int chosen) const {
    ir::Decision decision;
    const Candidate& taken = nodes_[n].candidates[chosen];
    decision.chosen = StrCat(taken.label, ", ",
                             PredictedUs(taken.placement, taken.cost), " us");
    decision.refused = nodes_[n].refused;
    for (int c = 0; c < static_cast<int>(nodes_[n].candidates.size()); ++c) {
      const Candidate& other = nodes_[n].candidates[c];
      if (c == chosen) continue;
      decision.refused.push_back(
          StrCat(other.label, ": ", other.cost, " us, not cheaper here"));
    }
    return decision;
  }

  const Module& module_;
  const Graph& graph_;
  LocationTable& locations_;
  std::vector<int> uses_left_;
  std::vector<ValueId> live_;
  std::vector<NodeCandidates> nodes_;
  std::vector<std::vector<State>> history_;  // [0] = before the first node
};

}  // namespace

Result<LocationChoice> SearchLocations(const Module& module,
                                       LocationTable& locations,
                                       const std::vector<ir::NodeId>& order) {
  for (int d = 0; d < static_cast<int>(module.options.devices.size()); ++d) {
    locations.Intern({d, ir::Layout::Dense()});
  }
  Search search(module, locations);
  TIM_RETURN_IF_ERROR(search.Run(order));
  return search.Best();
}

}  // namespace tim::compiler
