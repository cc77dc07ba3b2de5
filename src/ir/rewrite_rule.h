// Operators that clients spell out in smaller ones.
#ifndef TIM_IR_REWRITE_RULE_H_
#define TIM_IR_REWRITE_RULE_H_

#include <functional>
#include <string>

#include "ir/inferred_node.h"
#include "ir/pattern.h"

namespace tim::ir {

/// One node that computes what several nodes do, within the error of float32.
/// Compile puts it in their place: kernels compute it at once, and fuse it with
/// what is before it.
struct RewriteRule {
  std::string name;  ///< Unique: "swish of sigmoid".
  Pattern pattern;
  /// The operator of the node: it runs wherever the nodes of a match run.
  std::string op;
  /// The node of a match; its name, types and shapes are found from those of
  /// the match.
  std::function<NewNode(const PatternMatch&)> node;
};

}  // namespace tim::ir

#endif  // TIM_IR_REWRITE_RULE_H_
