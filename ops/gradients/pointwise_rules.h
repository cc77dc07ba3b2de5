// Rules of gradients of operators that work element by element.
#ifndef TIM_OPS_GRADIENTS_POINTWISE_RULES_H_
#define TIM_OPS_GRADIENTS_POINTWISE_RULES_H_

#include <string_view>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

/// The rule of the operator of one input (of two) with this name, null where it
/// has none.
VjpRule UnaryVjp(std::string_view op);
VjpRule BinaryVjp(std::string_view op);

/// AddN: every input has the output's cotangent.
Result<std::vector<ir::ValueId>> AddNVjp(const ir::VjpContext& context);
/// Select: no cotangent of the condition.
Result<std::vector<ir::ValueId>> SelectVjp(const ir::VjpContext& context);
/// Cast and DataConvert: between float types the cotangent converted back.
Result<std::vector<ir::ValueId>> ConvertVjp(const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_GRADIENTS_POINTWISE_RULES_H_
