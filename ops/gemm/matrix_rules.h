// Rules of gradients of products of matrices.
#ifndef TIM_OPS_GEMM_MATRIX_RULES_H_
#define TIM_OPS_GEMM_MATRIX_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

Result<std::vector<ir::ValueId>> MatmulVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> FullyConnectedVjp(
    const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_MATRIX_RULES_H_
