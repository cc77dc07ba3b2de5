// What the kernels of Conv2d share, and operators that are made of it.
#ifndef TIM_OPS_CONVOLUTION_CONV2D_NODE_H_
#define TIM_OPS_CONVOLUTION_CONV2D_NODE_H_

#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {

inline constexpr int kConvChannelAxis = 2;

ir::OpSchema Conv2dSchema();

/// The convolution that a Conv2d node (fused or not) does.
Result<Conv2dShape> Conv2dShapeOf(const ir::KernelNode& node);

/// A convolution and what follows it in a fused node.
struct Conv2dProblem {
  Conv2dShape shape;
  Epilogue epilogue;
};

/// Ok, or which operand has more elements than 32 bits count.
Status CheckOperandSizes(const ir::KernelNode& node);
/// Ok, or that positions along spatial axis `index` do not fit 32 bits.
Status CheckPositions(int index, const ConvAxis& axis);
/// All of these.
Status CheckKernelSizes(const ir::KernelNode& node, const Conv2dShape& shape);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONV2D_NODE_H_
