// What eval and the kernels of Softmax share.
#ifndef TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_
#define TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_

#include <cstdint>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/shape.h"
#include "ir/tensor_desc.h"

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

/// By how much of itself a result in codes of `output` may differ from eval's
/// where the sum of a row of 8-bit codes is taken in another order
/// (ops/normalization/softmax_estimate.clh); 0 where many would be in doubt.
float SoftmaxTolerance(const SoftmaxProblem& problem,
                       const ir::TensorDesc& input,
                       const ir::TensorDesc& output);

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_SOFTMAX_NODE_H_
