// Rules of gradients of sums of products: matrices and windows.
#ifndef TIM_OPS_GRADIENTS_PRODUCT_RULES_H_
#define TIM_OPS_GRADIENTS_PRODUCT_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

Result<std::vector<ir::ValueId>> MatmulVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> FullyConnectedVjp(
    const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> Conv2dVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> DeConv2dVjp(const ir::VjpContext& context);
/// Pool2d of the types MAX, AVG, AVG_ANDROID and AVG over padded cells.
Result<std::vector<ir::ValueId>> Pool2dVjp(const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_GRADIENTS_PRODUCT_RULES_H_
