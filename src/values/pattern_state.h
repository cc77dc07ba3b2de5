// Patterns and matches of the front, and their way below it.
#ifndef TIM_VALUES_PATTERN_STATE_H_
#define TIM_VALUES_PATTERN_STATE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/pattern.h"
#include "tim/values/pattern.h"
#include "values/graph_state.h"

namespace tim::values::internal {

struct PatternState {
  ir::Pattern::Kind kind = ir::Pattern::Kind::kAny;
  std::string op;
  std::string name;
  std::vector<Pattern> inputs;
  int least = 0;
  int most = 0;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  std::function<bool(const Match&)> where = nullptr;
  bool any_order = false;
  bool may_be_shared = false;
};

struct MatchState {
  std::shared_ptr<GraphState> graph;
  ir::PatternMatch match;
  std::vector<std::string> node_names;  ///< Of match.nodes.
};

/// A match in `graph`, whose nodes are `found.graph`'s now.
Match MakeMatch(const std::shared_ptr<GraphState>& graph,
                const ir::PatternMatch& found);

/// The pattern for the nodes of a graph.  kInvalidArgument: it is none, as a
/// Repeat of fewer than 0.
Result<ir::Pattern> PatternFor(const Pattern& pattern,
                               const std::shared_ptr<GraphState>& graph);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_PATTERN_STATE_H_
