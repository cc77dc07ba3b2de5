// Scalars of custom operators as arguments of a launch.
#ifndef TIM_VX_USER_CUSTOM_SCALAR_H_
#define TIM_VX_USER_CUSTOM_SCALAR_H_

#include <vector>

#include "base/status.h"
#include "ir/step.h"
#include "tim/vx/ops/custom_base.h"

namespace tim::vx {

/// The values that count, widened, a vector's as one scalar.  Fails on a Param
/// of no known type, and on a vector that is not whole.
Result<std::vector<ir::UserScalarArg>> ToScalars(
    const std::vector<ops::Param>& params);

}  // namespace tim::vx

#endif  // TIM_VX_USER_CUSTOM_SCALAR_H_
