// Patterns of nodes: what a part of a graph looks like, where it occurs, and
// putting other nodes in its place.
#ifndef TIM_IR_PATTERN_H_
#define TIM_IR_PATTERN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/graph.h"

namespace tim::ir {

/// A place where a pattern occurs.
struct PatternMatch {
  const Graph* graph = nullptr;
  NodeId root = kNone;
  std::vector<NodeId> nodes;  ///< The root first; each once.
  /// Values and nodes by the names that parts of the pattern have.  A node's
  /// name is also its value's, through which it was found.  Parts that did not
  /// occur (other alternatives, what is optional) have none.
  std::map<std::string, ValueId> values = {};
  std::map<std::string, NodeId> named_nodes = {};
};

/// Matches a value and, backwards from it, what computes it.  Plain data.
struct Pattern {
  enum class Kind : uint8_t {
    kAny,       ///< Any value.
    kConstant,  ///< A constant.
    kOp,        ///< The output of a node of operator `op`, empty: of any.
    kOneOf,     ///< What one of `inputs` matches; the first one counts.
    kOptional,  ///< op(inputs[0]), else inputs[0].
    kRepeat,    ///< op(op(.. inputs[0])), `least` to `most` times, the more the
                ///< better.
  };

  static Pattern Any(std::string name = "");
  static Pattern Constant(std::string name = "");
  /// \param op "tim.Relu", "tim.Relu@1", or the name of a composite.
  /// \param inputs of the node's first ones; further ones may be anything.
  static Pattern Op(std::string op, std::vector<Pattern> inputs = {},
                    std::string name = "");
  static Pattern OneOf(std::vector<Pattern> alternatives);
  /// The operators of both have one input that counts, their first.
  static Pattern Optional(std::string op, Pattern inside,
                          std::string name = "");
  static Pattern Repeat(std::string op, int least, int most, Pattern inside,
                        std::string name = "");

  Kind kind = Kind::kAny;
  std::string op = {};
  /// Parts of the same name must be the same value.  Empty: none.
  std::string name = {};
  std::vector<Pattern> inputs = {};
  int least = 0;
  int most = 0;
  /// Attributes that nodes must have, those left out with their defaults.
  /// Integers stand for floats, too, and names for the values of enums.
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  /// Asked when everything else matches.  Null: true.
  std::function<bool(const PatternMatch&)> where = nullptr;
  bool any_order = false;  ///< The first two inputs may change places.
  /// Readers outside of the match may read the node's outputs, too.  Else only
  /// those of the root may have such; a graph's outputs and states count.
  bool may_be_shared = false;
};

/// All matches, in topological order of their roots.  No node is in two of
/// them, but where it may be shared.
/// \param live values that have readers beside those in the graph.
/// kInternal: the graph has a cycle.
Result<std::vector<PatternMatch>> FindMatches(
    const Graph& graph, const Pattern& pattern,
    const std::vector<ValueId>& live = {});

/// Adds nodes to the graph and returns values for the outputs of the match's
/// root, one for each, kNone for those that nobody reads.
using PatternReplacement = std::function<Result<std::vector<ValueId>>(
    const PatternMatch& match, Graph* graph)>;

struct ReplaceReport {
  int replaced = 0;
  /// A line for each match that was left as it was, since its replacement had
  /// another type or shape.
  std::vector<std::string> skipped;
};

/// Puts replacements in the place of matches, removes what nothing needs, and
/// does so again, at most `max_rounds` times and until nothing matches.
/// Replaced outputs of the graph keep their names.
/// A failure of `replacement`, or a graph that is none any more (a cycle),
/// leaves the graph as it was.
/// \param live as in FindMatches, null: none.  Replacements take the place of
///     values in it, too.
Result<ReplaceReport> ReplaceMatches(const Pattern& pattern,
                                     const PatternReplacement& replacement,
                                     int max_rounds, Graph* graph,
                                     std::vector<ValueId>* live = nullptr);

}  // namespace tim::ir

#endif  // TIM_IR_PATTERN_H_
