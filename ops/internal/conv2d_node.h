// What the kernels of Conv2d share.
#ifndef TIM_OPS_INTERNAL_CONV2D_NODE_H_
#define TIM_OPS_INTERNAL_CONV2D_NODE_H_

#include "ir/kernel_def.h"
#include "ops/internal/convolution.h"

namespace tim::ops {

inline constexpr int kConvChannelAxis = 2;

/// The convolution that a Conv2d node (fused or not) does.
Result<Conv2dShape> Conv2dShapeOf(const ir::KernelNode& node);

/// Ok, or the reason where tensors or positions do not fit 32 bits.
Status CheckKernelSizes(const ir::KernelNode& node, const Conv2dShape& shape);

/// What the float32 kernels on ChannelBlocks() with packed weights share: the
/// convolution that a node does, or why they do not take it (types, groups,
/// weights, epilogue, sizes).
Result<Conv2dShape> BlockedConv2dOf(const ir::KernelNode& node);
/// Input 0, output 0 and a residual in blocks, the rest dense.
ir::LayoutTuple BlockedConv2dLayouts(const ir::KernelNode& node);

}  // namespace tim::ops

#endif  // TIM_OPS_INTERNAL_CONV2D_NODE_H_
