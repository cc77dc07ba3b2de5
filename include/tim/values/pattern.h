// Patterns: parts of a graph by their looks, and where they occur.
#ifndef TIM_VALUES_PATTERN_H_
#define TIM_VALUES_PATTERN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tim/export.h"
#include "tim/values/node.h"
#include "tim/values/types.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

namespace internal {
struct MatchState;
struct PatternState;
}  // namespace internal

/// A place where a pattern occurs in a graph.  It counts until the graph is
/// changed.
class TIM_API Match {
 public:
  Match() = default;
  /// True where a part of this name occurred.
  bool Has(const std::string& name) const;
  /// The value of the part with this name; failed where there is none.
  Value operator[](const std::string& name) const;
  /// The operator of the part with this name; failed where there is none.
  Node node(const std::string& name) const;
  /// Names of all nodes of the match, the root's first.
  std::vector<std::string> nodes() const;

 private:
  friend struct internal::Access;
  std::shared_ptr<const internal::MatchState> state_;
};

/// Matches a value of a graph and, backwards from it, what computes it.  Parts
/// with the same name must be the same value.  Nodes but the root must have no
/// readers outside of the match, of which the graph's outputs are some.
/// One thread at a time; a copy is a pattern of its own.
class TIM_API Pattern {
 public:
  /// A move copies: no handle is left without what it stood for.
  Pattern(const Pattern& other) = default;
  Pattern& operator=(const Pattern& other) = default;
  /// Any value.
  static Pattern Any(const std::string& name = "");
  /// A constant.
  static Pattern Constant(const std::string& name = "");
  /// \param op "tim.Relu", the name of a graph that was called, or "" for any.
  /// \param inputs of the first inputs; the others may be anything.
  static Pattern Op(const std::string& op, std::vector<Pattern> inputs = {},
                    const std::string& name = "");
  /// The first of these that matches.
  static Pattern OneOf(std::vector<Pattern> alternatives);
  /// op(inside), or inside alone.
  static Pattern Optional(const std::string& op, const Pattern& inside,
                          const std::string& name = "");
  /// op(op(.. inside)), `least` to `most` times; the name is the last one's.
  static Pattern Repeat(const std::string& op, int least, int most,
                        const Pattern& inside, const std::string& name = "");

  /// Asked when everything else matches.
  Pattern& Where(std::function<bool(const Match&)> condition);
  /// Nodes have this attribute; those left out have their defaults.
  Pattern& With(const std::string& attribute, const Attribute& value);
  /// The first two inputs may change places.
  Pattern& AnyOrder();
  /// Others may read the node's result, too.
  Pattern& MayBeShared();

 private:
  friend struct internal::Access;
  Pattern() = default;
  internal::PatternState& Edit();
  std::shared_ptr<internal::PatternState> state_;
};

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_PATTERN_H_
