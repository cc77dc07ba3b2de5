// Extents of FullyConnected.
#ifndef TIM_OPS_GEMM_FULLYCONNECTED_SHAPE_H_
#define TIM_OPS_GEMM_FULLYCONNECTED_SHAPE_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {

/// out(o, m) = sum over k of input(k, m) * weights(k, o).
struct FullyConnectedShape {
  int64_t depth = 1;    ///< k: dims 0..axis of the input.
  int64_t outputs = 1;  ///< o: last dim of the weights.
  int64_t rows = 1;     ///< m: the input's dims after `axis`.
};

/// From static shapes that inference has accepted.
FullyConnectedShape FullyConnectedShapeOf(const ir::AttributeMap& attributes,
                                          const ir::Shape& input,
                                          const ir::Shape& weights);

/// A FullyConnected and what follows it in a fused node.
struct FullyConnectedProblem {
  FullyConnectedShape shape;
  Epilogue epilogue;
};
/// That of the node, or the reason where a tensor does not fit 32-bit positions
/// or an epilogue cannot be done.
Result<FullyConnectedProblem> FullyConnectedProblemOf(
    const ir::KernelNode& node);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_FULLYCONNECTED_SHAPE_H_
