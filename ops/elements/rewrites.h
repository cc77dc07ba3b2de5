// Conditions of rules for operators that are spelled out in smaller ones.
#ifndef TIM_OPS_ELEMENTS_REWRITES_H_
#define TIM_OPS_ELEMENTS_REWRITES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/rewrite_rule.h"

namespace tim::ops {

/// op(a, b) or op(b, a), without a factor.
ir::Pattern EitherOrder(const std::string& op, ir::Pattern a, ir::Pattern b);

/// True where all that the nodes read and make is float32: types whose results
/// are rounded in between would not be the same.
bool IsFloat32(const ir::PatternMatch& match);

/// The only element of the constant float32 value with this name.
std::optional<float> ScalarOf(const ir::PatternMatch& match,
                              const std::string& name);
/// True where it is `expected`, as float32 has it, or the number beside it.
bool IsScalar(const ir::PatternMatch& match, const std::string& name,
              double expected);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_REWRITES_H_
