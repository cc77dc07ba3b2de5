#include "ops/convolution3d/conv3d_node.h"

#include "ops/convolution/conv2d_node.h"

namespace tim::ops {

Result<Conv3dShape> Conv3dShapeOf(const ir::AttributeMap& attributes,
                                  const ir::Shape& input,
                                  const ir::Shape& kernel,
                                  const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const std::vector<ConvWindow> windows,
                       WindowsOf(attributes, kConv3dAxes));
  Conv3dShape out;
  TIM_ASSIGN_OR_RETURN(out.group, GroupsOf(input[3], kernel[3], kernel[4],
                                           attributes.Int("multiplier")));
  out.channels = input[3];
  out.batch = input[4];
  const bool rules = output.rank() == 5 && output[4] == out.batch &&
                     output[3] == out.group.out_channels;
  const auto axis_of = [&](int i) {
    return AxisOf(
        windows[i], input[i], kernel[i],
        rules ? output[i] : OutputExtent(windows[i], input[i], kernel[i]));
  };
  out.w = axis_of(0);
  out.h = axis_of(1);
  out.d = axis_of(2);
  return out;
}

Result<Conv3dShape> Conv3dShapeOf(const ir::KernelNode& node) {
  return Conv3dShapeOf(node.attributes(), node.inputs[0].shape,
                       node.inputs[1].shape, node.anchor_output.shape);
}

Status CheckConv3dSizes(const ir::KernelNode& node, const Conv3dShape& shape) {
  TIM_RETURN_IF_ERROR(CheckOperandSizes(node));
  TIM_RETURN_IF_ERROR(CheckPositions(0, shape.w));
  TIM_RETURN_IF_ERROR(CheckPositions(1, shape.h));
  return CheckPositions(2, shape.d);
}

}  // namespace tim::ops
