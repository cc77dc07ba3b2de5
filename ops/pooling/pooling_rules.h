// The rule of gradients of pools.
#ifndef TIM_OPS_POOLING_POOLING_RULES_H_
#define TIM_OPS_POOLING_POOLING_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

/// Pool2d of the types MAX, AVG, AVG_ANDROID and AVG over padded cells.
Result<std::vector<ir::ValueId>> Pool2dVjp(const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_POOLING_POOLING_RULES_H_
