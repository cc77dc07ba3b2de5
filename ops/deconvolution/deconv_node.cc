#include "ops/deconvolution/deconv_node.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ops/convolution/conv2d_node.h"

namespace tim::ops {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

bool Known(int64_t extent) { return extent != ir::kUnknownDim; }

Status CheckTransposedWindow(const TransposedWindow& window) {
  TIM_RETURN_IF_ERROR(CheckWindow({.stride = window.stride}));
  if (std::min(window.front, window.back) < -kMaxInt ||
      std::max(window.front, window.back) > kMaxInt) {
    return InvalidArgument("pad is ", window.front, " and ", window.back,
                           ", expected ", -kMaxInt, " to ", kMaxInt);
  }
  if (window.output_padding >= 0 && window.output_padding <= kMaxInt) {
    return OkStatus();
  }
  return InvalidArgument("output_padding is ", window.output_padding,
                         ", expected 0 to ", kMaxInt);
}

// Every channel is a group, with a kernel [W, H, C, 1].
Result<ConvGroups> DepthwiseGroupsOf(int64_t input_channels, int64_t kernel_in,
                                     int64_t group) {
  if ((!Known(input_channels) || input_channels == group) &&
      (!Known(kernel_in) || kernel_in == group)) {
    return ConvGroups{.out_channels = group, .channels = 1, .outputs = 1};
  }
  return InvalidArgument("a kernel (input 1) that ends in [", kernel_in,
                         ", 1] of group ", group, " must end in [", group,
                         ", 1], with as many channels in input 0, not ",
                         input_channels);
}

}  // namespace

Result<std::vector<TransposedWindow>> TransposedWindowsOf(
    const ir::AttributeMap& attributes) {
  const auto& pad = attributes.Ints("pad");
  const auto& stride = attributes.Ints("stride");
  const auto& output_padding = attributes.Ints("output_padding");
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "pad", 4));
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "stride", 2));
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "output_padding", 2));
  std::vector<TransposedWindow> out;
  for (int i = 0; i < 2; ++i) {
    out.push_back({.front = pad[2 * i],
                   .back = pad[2 * i + 1],
                   .stride = stride[i],
                   .output_padding = output_padding[i]});
    TIM_RETURN_IF_ERROR(CheckTransposedWindow(out[i]).WithContext(
        StrCat("along ", SpatialAxisName(i))));
  }
  return out;
}

int64_t TransposedExtent(const TransposedWindow& window, int64_t input,
                         int64_t kernel) {
  if (!Known(input) || !Known(kernel)) return ir::kUnknownDim;
  const int64_t extent = (input - 1) * window.stride + kernel - window.front -
                         window.back + window.output_padding;
  return std::max<int64_t>(extent, 0);
}

Result<ConvGroups> TransposedGroupsOf(int64_t input_channels, int64_t kernel_in,
                                      int64_t kernel_out, int64_t group) {
  if (group < 1) return InvalidArgument("group is ", group, ", expected >= 1");
  if (group > 1 && kernel_out == 1) {
    return DepthwiseGroupsOf(input_channels, kernel_in, group);
  }
  ConvGroups out{.out_channels = kernel_out, .channels = kernel_in};
  if (Known(kernel_out)) {
    if (kernel_out % group != 0) {
      return InvalidArgument("group ", group, " does not divide the ",
                             kernel_out,
                             " output channels of the kernel (input 1)");
    }
    out.outputs = kernel_out / group;
  }
  if (!Known(input_channels)) return out;
  if (input_channels % group != 0) {
    return InvalidArgument("group ", group, " does not divide the ",
                           input_channels, " channels of input 0");
  }
  // Unknown outputs: the kernel may yet be one of a group for every channel.
  if (!Known(kernel_in) || kernel_in == input_channels / group ||
      (!Known(kernel_out) && kernel_in == input_channels)) {
    return out;
  }
  return InvalidArgument("the kernel (input 1) reads ", kernel_in,
                         " channels, expected ", input_channels / group,
                         ", the ", input_channels, " of input 0 in ", group,
                         " groups");
}

Result<Conv2dShape> TransposedShapeOf(const ir::AttributeMap& attributes,
                                      const ir::Shape& input,
                                      const ir::Shape& kernel,
                                      const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const std::vector<TransposedWindow> windows,
                       TransposedWindowsOf(attributes));
  Conv2dShape out;
  TIM_ASSIGN_OR_RETURN(out.group,
                       TransposedGroupsOf(input[2], kernel[2], kernel[3],
                                          attributes.Int("group")));
  out.channels = input[2];
  out.batch = input[3];
  const bool rules = output.rank() == 4 && output[3] == out.batch &&
                     output[2] == out.group.out_channels;
  const auto axis_of = [&](int i) {
    return ConvAxis{
        .input = input[i],
        .kernel = kernel[i],
        .output = rules ? output[i]
                        : TransposedExtent(windows[i], input[i], kernel[i]),
        .stride = windows[i].stride,
        .dilation = 1,
        .pad = windows[i].front};
  };
  out.w = axis_of(0);
  out.h = axis_of(1);
  return out;
}

Result<Conv2dShape> TransposedShapeOf(const ir::KernelNode& node) {
  return TransposedShapeOf(node.attributes(), node.inputs[0].shape,
                           node.inputs[1].shape, node.anchor_output.shape);
}

Status CheckTransposedSizes(const ir::KernelNode& node,
                            const Conv2dShape& shape) {
  TIM_RETURN_IF_ERROR(CheckOperandSizes(node));
  for (const ConvAxis& axis : {shape.w, shape.h}) {
    // The greatest position that a kernel computes, with room for a tile of
    // every phase beyond the end.
    constexpr int64_t kTile = 64;
    const double last = static_cast<double>(axis.output) + std::abs(axis.pad) +
                        axis.kernel + static_cast<double>(axis.stride) * kTile;
    if (last > kMaxInt) return Unimplemented("positions do not fit 32 bits");
  }
  return OkStatus();
}

}  // namespace tim::ops
