// Attributes of convolutions and pools: strides, dilations and pads.
#include "models/onnx/ops/convolutions/windows.h"

#include <algorithm>
#include <limits>
#include <string>

#include "models/onnx/ops/compose.h"

namespace tim::models::onnx {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

enum class AutoPad { kNotSet, kSameUpper, kSameLower, kValid };

Result<AutoPad> AutoPadOf(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const std::string text, node.Text("auto_pad", "NOTSET"));
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  return InvalidArgument("attribute 'auto_pad' is '", text,
                         "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

Status SetPads(const Node& node, AutoPad mode, Windows* windows) {
  const size_t axes = windows->axes();
  TIM_ASSIGN_OR_RETURN(const Dims pads,
                       SpatialInts(node, "pads", 2 * axes, 0, 0));
  for (size_t i = 0; i < axes; ++i) {
    if (mode == AutoPad::kNotSet) {
      windows->before[i] = pads[i];
      windows->after[i] = pads[axes + i];
      continue;
    }
    if (pads[i] != 0 || pads[axes + i] != 0) {
      return InvalidArgument(
          "attribute 'pads' is given beside 'auto_pad', which tells the pads");
    }
    if (mode == AutoPad::kValid) continue;
    const int64_t stride = windows->strides[i];
    const int64_t count = (windows->input[i] + stride - 1) / stride;
    const int64_t total = std::max<int64_t>(
        (count - 1) * stride + windows->Reach(i) - windows->input[i], 0);
    const int64_t less = total / 2;
    windows->before[i] = mode == AutoPad::kSameUpper ? less : total - less;
    windows->after[i] = total - windows->before[i];
  }
  return OkStatus();
}

Result<int64_t> OutputExtent(const Windows& windows, size_t axis,
                             Rounding rounding) {
  const int64_t stride = windows.strides[axis];
  const int64_t from = windows.input[axis] + windows.before[axis];
  const int64_t room = from + windows.after[axis] - windows.Reach(axis);
  if (room < 0) {
    return InvalidArgument("a window of ", windows.Reach(axis),
                           " cells does not fit the ", windows.input[axis],
                           " of spatial axis ", axis, " and their padding");
  }
  if (rounding == Rounding::kFloor) return room / stride + 1;
  const int64_t count = (room + stride - 1) / stride + 1;
  return (count - 1) * stride >= from ? count - 1 : count;
}

}  // namespace

bool Windows::Dilated() const {
  return std::any_of(dilations.begin(), dilations.end(),
                     [](int64_t dilation) { return dilation != 1; });
}

Result<int64_t> Windows::KernelCells() const {
  return Product(kernel, 0, kernel.size());
}

Result<Dims> SpatialInts(const Node& node, const char* attribute, size_t axes,
                         int64_t otherwise, int64_t least) {
  TIM_ASSIGN_OR_RETURN(Dims values, node.Ints(attribute));
  if (values.empty()) return Dims(axes, otherwise);
  if (values.size() != axes) {
    return InvalidArgument("attribute '", attribute, "' has ", values.size(),
                           " values, expected ", axes);
  }
  for (const int64_t value : values) {
    if (value < least || value > kMost) {
      return InvalidArgument("attribute '", attribute, "' has the value ",
                             value, ", taken are ", least, " to ", kMost);
    }
  }
  return values;
}

Result<Windows> WindowsOf(const Node& node, const Dims& input,
                          const Dims& kernel, Rounding rounding) {
  Windows windows;
  const size_t axes = kernel.size();
  if (input.size() != axes) {
    return InvalidArgument("a kernel of ", axes, " axes over ", input.size(),
                           " spatial axes");
  }
  windows.input = input;
  windows.kernel = kernel;
  windows.before = windows.after = Dims(axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    if (kernel[i] < 1 || kernel[i] > kMost || input[i] < 1 ||
        input[i] > kMost) {
      return InvalidArgument("a kernel of ", kernel[i], " over ", input[i],
                             " cells along spatial axis ", i,
                             ", expected 1 to ", kMost, " each");
    }
  }
  TIM_ASSIGN_OR_RETURN(windows.strides,
                       SpatialInts(node, "strides", axes, 1, 1));
  TIM_ASSIGN_OR_RETURN(windows.dilations,
                       SpatialInts(node, "dilations", axes, 1, 1));
  TIM_ASSIGN_OR_RETURN(const AutoPad mode, AutoPadOf(node));
  TIM_RETURN_IF_ERROR(SetPads(node, mode, &windows));
  for (size_t i = 0; i < axes; ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t extent,
                         OutputExtent(windows, i, rounding));
    windows.output.push_back(extent);
  }
  return windows;
}

Windows WithExactEnds(Windows windows) {
  for (size_t i = 0; i < windows.axes(); ++i) {
    windows.after[i] = std::max<int64_t>(
        (windows.output[i] - 1) * windows.strides[i] + windows.Reach(i) -
            windows.input[i] - windows.before[i],
        0);
  }
  return windows;
}

}  // namespace tim::models::onnx
