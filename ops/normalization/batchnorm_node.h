// What eval and the kernel of BatchNorm share.
#ifndef TIM_OPS_NORMALIZATION_BATCHNORM_NODE_H_
#define TIM_OPS_NORMALIZATION_BATCHNORM_NODE_H_

#include <cstdint>
#include <vector>

#include "ir/kernel_def.h"
#include "ops/elements/axes.h"

namespace tim::ir {
class OpRegistry;
}

namespace tim::ops {

/// [W, C, N], [W, H, C, N] and so on; [C, N] and [C].
int ChannelAxis(int rank);

/// Of mean, variance, gamma and beta along every axis of the input, or why
/// they do not fit it.  Shapes must be static.
Result<std::vector<std::vector<int64_t>>> BatchNormStrides(
    const ir::NodeView& view);

/// gamma / sqrt(variance + eps), with the roundings of eval.
float BatchNormFactor(float variance, float gamma, float eps);

/// The kernel "batchnorm".
void AddBatchNormKernel(ir::OpRegistry& registry);

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_BATCHNORM_NODE_H_
