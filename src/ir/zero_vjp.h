// The gradient rule of operators that gradients end at.
#ifndef TIM_IR_ZERO_VJP_H_
#define TIM_IR_ZERO_VJP_H_

#include <vector>

#include "base/status.h"
#include "ir/op_schema.h"

namespace tim::ir {

/// The rule of operators whose derivative is 0 wherever it is defined, or is
/// taken to be: no cotangent for any input.
Result<std::vector<ValueId>> ZeroVjp(const VjpContext& context);

/// Whether that is the operator's rule.
bool HasZeroVjp(const OpSchema& schema);

}  // namespace tim::ir

#endif  // TIM_IR_ZERO_VJP_H_
