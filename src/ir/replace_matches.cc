// Puts other nodes in the place of matches of a pattern.
#include <algorithm>
#include <map>
#include <utility>

#include "ir/dead_nodes.h"
#include "ir/effect_order.h"
#include "ir/pattern.h"
#include "ir/replacement.h"

namespace tim::ir {
namespace {

// Whether both may be the same, as far as they are known.
bool Fits(const TensorDesc& old_desc, const TensorDesc& new_desc) {
  if (old_desc.type != new_desc.type && old_desc.type != DataType::kUnknown &&
      new_desc.type != DataType::kUnknown) {
    return false;
  }
  const Shape& a = old_desc.shape;
  const Shape& b = new_desc.shape;
  if (!a.ranked() || !b.ranked()) return true;
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a[axis] != b[axis] && a[axis] != kUnknownDim &&
        b[axis] != kUnknownDim) {
      return false;
    }
  }
  return true;
}

class Replacer {
 public:
  Replacer(const ReplacementFor& replacement, Graph* graph,
           std::vector<ValueId>* live)
      : replacement_(replacement), graph_(*graph), live_(*live) {}

  Status Replace(PatternMatch match, ReplaceReport* report) {
    // Nodes that several matches may have go with the first that leaves them.
    if (!graph_.HasNode(match.root)) return OkStatus();
    for (auto& [name, value] : match.values) value = Newest(value);
    match.graph = &graph_;
    const NodeId first_new = graph_.node_id_limit();
    const std::string name = graph_.node(match.root).name;
    std::vector<ValueId> old_values = graph_.node(match.root).outputs;
    TIM_ASSIGN_OR_RETURN(const Replacement made,
                         replacement_(match, live_, &graph_));
    std::erase_if(old_values, [&](ValueId id) {
      return std::any_of(made.exchanged.begin(), made.exchanged.end(),
                         [id](const auto& pair) { return pair.first == id; });
    });
    const Status fits = Check(old_values, made.outputs);
    if (!fits.ok()) {
      report->skipped.push_back(StrCat(name, ": ", fits.message()));
      for (NodeId id = graph_.node_id_limit(); id-- > first_new;) {
        if (graph_.HasNode(id)) graph_.RemoveNode(id);
      }
      return OkStatus();
    }
    for (size_t i = 0; i < old_values.size(); ++i) {
      Exchange(old_values[i], made.outputs[i], first_new);
    }
    for (const auto& [from, to] : made.exchanged) Exchange(from, to, first_new);
    if (!made.removed.empty()) RemoveUnread(match.nodes, made.removed);
    ++report->replaced;
    return OkStatus();
  }

 private:
  // A value that an earlier match of the round made may be another by now.
  ValueId Newest(ValueId value) const {
    for (auto it = replaced_.find(value); it != replaced_.end();
         it = replaced_.find(value)) {
      value = it->second;
    }
    return value;
  }

  bool IsRead(ValueId id) const {
    return !graph_.value(id).uses.empty() || graph_.IsLiveOut(id) || IsHeld(id);
  }

  bool IsHeld(ValueId id) const {
    return std::find(live_.begin(), live_.end(), id) != live_.end();
  }

  bool IsUnread(NodeId id) const {
    const std::vector<ValueId>& outputs = graph_.node(id).outputs;
    return std::none_of(outputs.begin(), outputs.end(), [this](ValueId output) {
      return output != kNone && IsRead(output);
    });
  }

  // Nodes of a match read one another: what has no readers goes until all have.
  void RemoveUnread(const std::vector<NodeId>& nodes,
                    const std::vector<NodeId>& with_effects) {
    for (bool again = true; again;) {
      again = false;
      for (const NodeId id : nodes) {
        if (!graph_.HasNode(id) || !IsUnread(id)) continue;
        if (HasOrderedEffects(graph_.node(id)) &&
            std::find(with_effects.begin(), with_effects.end(), id) ==
                with_effects.end()) {
          continue;
        }
        graph_.RemoveNode(id);
        again = true;
      }
    }
  }

  Status Check(const std::vector<ValueId>& old_values,
               const std::vector<ValueId>& new_values) const {
    if (old_values.size() != new_values.size()) {
      return InvalidArgument("the replacement gave ", new_values.size(),
                             " values, expected ", old_values.size());
    }
    for (size_t i = 0; i < old_values.size(); ++i) {
      if (old_values[i] == kNone) continue;
      if (new_values[i] == kNone) {
        if (!IsRead(old_values[i])) continue;
        return InvalidArgument("the replacement gave no value for output ", i,
                               ", which is read");
      }
      if (!graph_.HasValue(new_values[i])) {
        return InvalidArgument("the replacement gave a value for output ", i,
                               " that is not in the graph");
      }
      const TensorDesc& found = graph_.value(new_values[i]).desc;
      const TensorDesc& expected = graph_.value(old_values[i]).desc;
      if (Fits(expected, found)) continue;
      return InvalidArgument("the replacement of output ", i, " is ",
                             found.ToString(), ", expected ",
                             expected.ToString());
    }
    return OkStatus();
  }

  // New nodes may read what they replace.
  void Exchange(ValueId from, ValueId to, NodeId first_new) {
    if (from == kNone || to == kNone || from == to) return;
    std::vector<Use> kept;
    for (const Use& use : graph_.value(from).uses) {
      if (use.node >= first_new) kept.push_back(use);
    }
    const auto is_named = [&](ValueId id) {
      return graph_.IsOutput(id) || IsHeld(id);
    };
    if (is_named(from) && !is_named(to)) {
      std::swap(graph_.value(to).name, graph_.value(from).name);
    }
    graph_.ReplaceUses(from, to);
    std::replace(live_.begin(), live_.end(), from, to);
    for (const Use& use : kept) graph_.SetInput(use.node, use.index, from);
    if (kept.empty()) replaced_[from] = to;
  }

  const ReplacementFor& replacement_;
  Graph& graph_;
  std::vector<ValueId>& live_;
  std::map<ValueId, ValueId> replaced_;
};

}  // namespace

Result<ReplaceReport> ReplaceMatches(const Pattern& pattern,
                                     const PatternReplacement& replacement,
                                     int max_rounds, Graph* graph,
                                     std::vector<ValueId>* live) {
  const ReplacementFor outputs_alone =
      [&](const PatternMatch& match, const std::vector<ValueId>&,
          Graph* edited) -> Result<Replacement> {
    TIM_ASSIGN_OR_RETURN(std::vector<ValueId> outputs,
                         replacement(match, edited));
    return Replacement{.outputs = std::move(outputs)};
  };
  return ReplaceMatchesBy(pattern, outputs_alone, max_rounds, graph, live);
}

Result<ReplaceReport> ReplaceMatchesBy(const Pattern& pattern,
                                       const ReplacementFor& replacement,
                                       int max_rounds, Graph* graph,
                                       std::vector<ValueId>* live) {
  Graph edited = *graph;
  std::vector<ValueId> held;
  if (live != nullptr) held = *live;
  ReplaceReport report;
  for (int round = 0; round < max_rounds; ++round) {
    TIM_ASSIGN_OR_RETURN(const std::vector<PatternMatch> matches,
                         FindMatches(edited, pattern, held));
    if (matches.empty()) break;
    // Matches that were skipped before would be skipped again.
    ReplaceReport found;
    Replacer replacer(replacement, &edited, &held);
    for (const PatternMatch& match : matches) {
      TIM_RETURN_IF_ERROR(replacer.Replace(match, &found));
    }
    TIM_RETURN_IF_ERROR(RemoveDeadNodes(&edited, held));
    TIM_RETURN_IF_ERROR(edited.CheckChains());
    report.replaced += found.replaced;
    report.skipped = std::move(found.skipped);
    if (found.replaced == 0) break;
  }
  *graph = std::move(edited);
  if (live != nullptr) *live = std::move(held);
  return report;
}

}  // namespace tim::ir
