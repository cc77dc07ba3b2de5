// What the kernels of Conv3d share.
#ifndef TIM_OPS_CONVOLUTION3D_CONV3D_NODE_H_
#define TIM_OPS_CONVOLUTION3D_CONV3D_NODE_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {

inline constexpr int kConv3dAxes = 3;  ///< W, H, D; the channels follow.

/// A three-dimensional convolution with known extents.  Element (kw, kh, kd,
/// ic) of output channel oc is at
/// kw + Kw * (kh + Kh * (kd + Kd * (ic + group.channels * oc))).
struct Conv3dShape {
  ConvAxis w;
  ConvAxis h;
  ConvAxis d;
  int64_t batch = 1;
  int64_t channels = 1;
  ConvGroups group;

  int64_t taps() const { return w.kernel * h.kernel * d.kernel; }
  int64_t terms() const { return taps() * group.channels; }
};
/// `output`: where its dims 3 and 4 are the channels and the batch, the others
/// rule.
Result<Conv3dShape> Conv3dShapeOf(const ir::AttributeMap& attributes,
                                  const ir::Shape& input,
                                  const ir::Shape& kernel,
                                  const ir::Shape& output);
/// That of a Conv3d node (fused or not).
Result<Conv3dShape> Conv3dShapeOf(const ir::KernelNode& node);

/// A convolution and what follows it in a fused node.
struct Conv3dProblem {
  Conv3dShape shape;
  Epilogue epilogue;
};

/// Ok, or the reason where tensors or positions do not fit 32 bits.
Status CheckConv3dSizes(const ir::KernelNode& node, const Conv3dShape& shape);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION3D_CONV3D_NODE_H_
