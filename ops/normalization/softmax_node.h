// What eval and the kernels of Softmax share.
#ifndef TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_
#define TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_

#include <cstdint>

#include "ir/kernel_def.h"

namespace tim::ops {

/// A dense tensor as [inner, count, outer], `count` along the axis.
struct SoftmaxShape {
  int64_t inner = 1;
  int64_t count = 1;
  int64_t outer = 1;
};
Result<SoftmaxShape> SoftmaxShapeOf(const ir::AttributeMap& attributes,
                                    const ir::Shape& shape);

/// beta * log2(e).
float SoftmaxExponent(const ir::AttributeMap& attributes);

ir::ComputeEstimate SoftmaxEstimate(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_
