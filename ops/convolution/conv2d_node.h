// What the kernels of Conv2d and Conv3d share, and operators that are made of
// Conv2d.
#ifndef TIM_OPS_CONVOLUTION_CONV2D_NODE_H_
#define TIM_OPS_CONVOLUTION_CONV2D_NODE_H_

#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {

inline constexpr int kConvChannelAxis = 2;

ir::OpSchema Conv2dSchema();

/// The convolution that a Conv2d or Conv3d node (fused or not) does.
Result<ConvShape> ConvShapeOf(const ir::KernelNode& node);

/// A convolution and what follows it in a fused node.
struct ConvProblem {
  ConvShape shape;
  Epilogue epilogue;
};

/// Ok, or which operand has more elements than 32 bits count.
Status CheckOperandSizes(const ir::KernelNode& node);
/// Ok, or the reason where they, or positions, do not fit 32 bits.
Status CheckKernelSizes(const ir::KernelNode& node, const ConvShape& shape);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONV2D_NODE_H_
