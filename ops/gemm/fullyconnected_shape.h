// Extents of FullyConnected.
#ifndef TIM_OPS_GEMM_FULLYCONNECTED_SHAPE_H_
#define TIM_OPS_GEMM_FULLYCONNECTED_SHAPE_H_

#include <cstdint>

#include "ir/kernel_def.h"

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
FullyConnectedShape FullyConnectedShapeOf(const ir::KernelNode& node);

/// Ok, or the reason where a tensor does not fit 32-bit positions or an
/// epilogue cannot be done.
Status CheckFullyConnectedKernel(const ir::KernelNode& node);

/// Estimates of the anchor.
ir::ComputeEstimate EstimateFullyConnected(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_FULLYCONNECTED_SHAPE_H_
