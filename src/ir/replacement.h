// Replacements for matches of patterns that have effects besides outputs.
#ifndef TIM_IR_REPLACEMENT_H_
#define TIM_IR_REPLACEMENT_H_

#include <functional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/pattern.h"

namespace tim::ir {

/// The replacement of a match.
struct Replacement {
  /// A value for each output of the root that `exchanged` lacks, kNone for
  /// those that nobody reads.
  std::vector<ValueId> outputs;
  /// Values of the match with those that take their place.
  std::vector<std::pair<ValueId, ValueId>> exchanged = {};
  /// Nodes of the match that go in spite of their effects, but for those that
  /// something reads.
  std::vector<NodeId> removed = {};
};

/// As PatternReplacement; `live` are the values that have readers beside those
/// in the graph, as they are at this match.
using ReplacementFor = std::function<Result<Replacement>(
    const PatternMatch& match, const std::vector<ValueId>& live, Graph* graph)>;

/// As ReplaceMatches().  Nodes that a replacement which does not fit has added
/// go at once.
Result<ReplaceReport> ReplaceMatchesBy(const Pattern& pattern,
                                       const ReplacementFor& replacement,
                                       int max_rounds, Graph* graph,
                                       std::vector<ValueId>* live = nullptr);

}  // namespace tim::ir

#endif  // TIM_IR_REPLACEMENT_H_
