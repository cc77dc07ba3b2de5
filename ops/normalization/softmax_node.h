// What eval and the kernels of Softmax share.
#ifndef TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_
#define TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_

#include <cstdint>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/shape.h"

namespace tim::ops {

/// A dense tensor as [inner, count, outer], `count` along the axis.
struct SoftmaxProblem {
  int64_t inner = 1;
  int64_t count = 1;
  int64_t outer = 1;
  float k = 0;  ///< beta * log2(e).
};
Result<SoftmaxProblem> SoftmaxProblemOf(const ir::AttributeMap& attributes,
                                        const ir::Shape& shape);

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_
