// What the kernels of DeConv2d share, and operators that are made of it.
#ifndef TIM_OPS_DECONVOLUTION_DECONV_NODE_H_
#define TIM_OPS_DECONVOLUTION_DECONV_NODE_H_

#include <cstdint>
#include <vector>

#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"

namespace tim::ops {

ir::OpSchema DeConv2dSchema();

/// Along one axis, input position i adds tap k to output position
/// i * stride - front + k.  Of negative pads the output has so many cells more
/// at that end, which no input reaches.
struct TransposedWindow {
  int64_t front = 0;
  int64_t back = 0;
  int64_t stride = 1;
  int64_t output_padding = 0;  ///< Of an inferred extent, at its end.
};
/// Along W and H, of the attributes pad, stride and output_padding.
Result<std::vector<TransposedWindow>> TransposedWindowsOf(
    const ir::AttributeMap& attributes);
/// The inferred output; kUnknownDim where unknown.
int64_t TransposedExtent(const TransposedWindow& window, int64_t input,
                         int64_t kernel);

/// From the extents 2 and 3 of a kernel [W, H, C / group, Oc], or [W, H, C, 1]
/// where every channel is a group.  Unknown extents give unknown results.
Result<ConvGroups> TransposedGroupsOf(int64_t input_channels, int64_t kernel_in,
                                      int64_t kernel_out, int64_t group);

/// A transposed convolution with known extents: dilations are 1, weights lie as
/// Conv2dShape says.  `output` as in ConvShapeOf.
Result<Conv2dShape> TransposedShapeOf(const ir::AttributeMap& attributes,
                                      const ir::Shape& input,
                                      const ir::Shape& kernel,
                                      const ir::Shape& output);
/// That of a DeConv2d node (fused or not).
Result<Conv2dShape> TransposedShapeOf(const ir::KernelNode& node);

/// Ok, or the reason where tensors or positions do not fit 32 bits.
Status CheckTransposedSizes(const ir::KernelNode& node,
                            const Conv2dShape& shape);

}  // namespace tim::ops

#endif  // TIM_OPS_DECONVOLUTION_DECONV_NODE_H_
