#include "ops/convolution/convolution.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"

namespace tim::ops {
namespace {

Status CheckLength(const char* name, const std::vector<int64_t>& values,
                   size_t expected) {
  if (values.size() == expected) return OkStatus();
  return InvalidArgument("attribute '", name, "' has ", values.size(),
                         " elements, expected ", expected);
}

Result<ConvGroups> DepthwiseGroups(int64_t input_channels, int64_t kernel_in,
                                   int64_t kernel_out, int64_t multiplier) {
  ConvGroups out{.channels = 1, .outputs = multiplier};
  if (input_channels == ir::kUnknownDim) return out;
  out.out_channels = input_channels * multiplier;
  const auto matches = [&](int64_t many, int64_t one) {
    return (many == ir::kUnknownDim || many == out.out_channels) &&
           (one == ir::kUnknownDim || one == 1);
  };
  if (matches(kernel_in, kernel_out) || matches(kernel_out, kernel_in)) {
    return out;
  }
  return InvalidArgument(
      "a depthwise kernel of ", input_channels, " channels with multiplier ",
      multiplier, " must end in [", out.out_channels, ", 1] or [1, ",
      out.out_channels, "], not in [", kernel_in, ", ", kernel_out, "]");
}

}  // namespace

int64_t EffectiveKernel(const ConvWindow& window, int64_t kernel) {
  return (kernel - 1) * std::max<int64_t>(window.dilation, 1) + 1;
}

ConvPads PadsOf(const ConvWindow& window, int64_t input, int64_t kernel) {
  if (window.mode == PadMode::kValid) return {};
  if (window.mode != PadMode::kSame) return {window.front, window.back};
  const int64_t covered = (CeilDiv(input, window.stride) - 1) * window.stride +
                          EffectiveKernel(window, kernel);
  const int64_t pads = std::max<int64_t>(covered - input, 0);
  return {pads / 2, pads - pads / 2};
}

int64_t OutputExtent(const ConvWindow& window, int64_t input, int64_t kernel) {
  if (input == ir::kUnknownDim) return ir::kUnknownDim;
  if (window.mode == PadMode::kSame) return CeilDiv(input, window.stride);
  if (kernel == ir::kUnknownDim) return ir::kUnknownDim;
  const int64_t pads =
      window.mode == PadMode::kValid ? 0 : window.front + window.back;
  const int64_t room = input + pads - EffectiveKernel(window, kernel);
  return room < 0 ? 0 : room / window.stride + 1;
}

Status CheckWindow(const ConvWindow& window) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  if (std::max({window.stride, window.dilation, window.front, window.back}) >
      kLimit) {
    return InvalidArgument("stride ", window.stride, ", dilation ",
                           window.dilation, ", pad ", window.front, " and ",
                           window.back, ": expected at most ", kLimit);
  }
  if (window.stride < 1) {
    return InvalidArgument("stride is ", window.stride, ", expected >= 1");
  }
  if (window.dilation < 0) {
    return InvalidArgument("dilation is ", window.dilation, ", expected >= 0");
  }
  if (window.front < 0 || window.back < 0) {
    return InvalidArgument("pad is ", window.front, " and ", window.back,
                           ", expected >= 0");
  }
  return OkStatus();
}

Result<ConvWindows2d> WindowsOf(const ir::AttributeMap& attributes) {
  const auto& pad = attributes.Ints("pad");
  const auto& stride = attributes.Ints("stride");
  const auto& dilation = attributes.Ints("dilation");
  TIM_RETURN_IF_ERROR(CheckLength("pad", pad, 4));
  TIM_RETURN_IF_ERROR(CheckLength("stride", stride, 2));
  TIM_RETURN_IF_ERROR(CheckLength("dilation", dilation, 2));
  const auto mode = static_cast<PadMode>(attributes.Int("padding"));
  const ConvWindows2d out = {{mode, pad[0], pad[1], stride[0], dilation[0]},
                             {mode, pad[2], pad[3], stride[1], dilation[1]}};
  TIM_RETURN_IF_ERROR(CheckWindow(out.w).WithContext("along W"));
  TIM_RETURN_IF_ERROR(CheckWindow(out.h).WithContext("along H"));
  return out;
}

std::optional<ir::AttributeMap> PaddedBy(const ir::Padding& padding,
                                         const ConvPads& w, const ConvPads& h,
                                         const ir::AttributeMap& attributes) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  const size_t rank = padding.front.size();
  if (padding.value != 0 || rank < 2) return std::nullopt;
  for (size_t axis = 2; axis < rank; ++axis) {
    if (padding.front[axis] != 0 || padding.back[axis] != 0)
      return std::nullopt;
  }
  std::vector<int64_t> pad = {w.front, w.back, h.front, h.back};
  for (int axis = 0; axis < 2; ++axis) {
    if (std::max(padding.front[axis], padding.back[axis]) > kLimit) {
      return std::nullopt;
    }
    pad[2 * axis] += padding.front[axis];
    pad[2 * axis + 1] += padding.back[axis];
  }
  if (*std::max_element(pad.begin(), pad.end()) > kLimit) return std::nullopt;
  ir::AttributeMap padded = attributes;
  padded.Set("padding", static_cast<int64_t>(PadMode::kAuto));
  padded.Set("pad", std::move(pad));
  return padded;
}

ConvAxis AxisOf(const ConvWindow& window, int64_t input, int64_t kernel,
                int64_t output) {
  return {.input = input,
          .kernel = kernel,
          .output = output,
          .stride = window.stride,
          .dilation = std::max<int64_t>(window.dilation, 1),
          .pad = PadsOf(window, input, kernel).front};
}

Result<ConvGroups> GroupsOf(int64_t input_channels, int64_t kernel_in,
                            int64_t kernel_out, int64_t multiplier) {
  if (multiplier < 0) {
    return InvalidArgument("multiplier is ", multiplier, ", expected >= 0");
  }
  if (multiplier > 0) {
    return DepthwiseGroups(input_channels, kernel_in, kernel_out, multiplier);
  }
  ConvGroups out{.out_channels = kernel_out, .channels = kernel_in};
  if (input_channels == ir::kUnknownDim || kernel_in == ir::kUnknownDim ||
      kernel_out == ir::kUnknownDim) {
    return out;
  }
  if (kernel_in < 1 || input_channels % kernel_in != 0) {
    return InvalidArgument("the kernel reads ", kernel_in,
                           " channels, which does not divide the input's ",
                           input_channels);
  }
  const int64_t groups = input_channels / kernel_in;
  if (groups < 1 || kernel_out % groups != 0) {
    return InvalidArgument("the kernel's ", kernel_out,
                           " output channels are not a multiple of the ",
                           groups, " groups");
  }
  out.outputs = kernel_out / groups;
  return out;
}

Result<Conv2dShape> Conv2dShapeOf(const ir::AttributeMap& attributes,
                                  const ir::Shape& input,
                                  const ir::Shape& kernel,
                                  const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const ConvWindows2d windows, WindowsOf(attributes));
  Conv2dShape out;
  TIM_ASSIGN_OR_RETURN(out.group, GroupsOf(input[2], kernel[2], kernel[3],
                                           attributes.Int("multiplier")));
  out.channels = input[2];
  out.batch = input[3];
  const bool rules = output.rank() == 4 && output[3] == out.batch &&
                     output[2] == out.group.out_channels;
  out.w =
      AxisOf(windows.w, input[0], kernel[0],
             rules ? output[0] : OutputExtent(windows.w, input[0], kernel[0]));
  out.h =
      AxisOf(windows.h, input[1], kernel[1],
             rules ? output[1] : OutputExtent(windows.h, input[1], kernel[1]));
  return out;
}

}  // namespace tim::ops
