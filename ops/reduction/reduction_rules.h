// Rules of gradients of reductions.
#ifndef TIM_OPS_REDUCTION_REDUCTION_RULES_H_
#define TIM_OPS_REDUCTION_REDUCTION_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

Result<std::vector<ir::ValueId>> ReduceSumVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> ReduceMeanVjp(const ir::VjpContext& context);
/// ReduceMax and ReduceMin: equal extremes share the cotangent.
Result<std::vector<ir::ValueId>> ReduceExtremeVjp(
    const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_REDUCTION_REDUCTION_RULES_H_
