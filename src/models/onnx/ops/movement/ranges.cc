// Slice and CenterCropPad of ONNX.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/onnx/ops/movement/movement.h"
#include "models/onnx/ops/movement/moves.h"
#include "tim/vx/ops/pad_v2.h"

namespace tim::models::onnx::movement {
namespace {

struct Bounds {
  std::vector<int64_t> starts, ends, axes, steps;
};

Result<Bounds> ReadBounds(const Node& node) {
  Bounds bounds;
  if (node.opset < 10) {
    TIM_ASSIGN_OR_RETURN(bounds.starts, node.Ints("starts"));
    TIM_ASSIGN_OR_RETURN(bounds.ends, node.Ints("ends"));
    TIM_ASSIGN_OR_RETURN(bounds.axes, node.Ints("axes"));
  } else {
    TIM_ASSIGN_OR_RETURN(bounds.starts, node.ConstantInts(1));
    TIM_ASSIGN_OR_RETURN(bounds.ends, node.ConstantInts(2));
    if (node.Has(3)) {
      TIM_ASSIGN_OR_RETURN(bounds.axes, node.ConstantInts(3));
    }
    if (node.Has(4)) {
      TIM_ASSIGN_OR_RETURN(bounds.steps, node.ConstantInts(4));
    }
  }
  const size_t count = bounds.starts.size();
  if (bounds.axes.empty()) {
    for (size_t i = 0; i < count; ++i) {
      bounds.axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (bounds.steps.empty()) bounds.steps.assign(count, 1);
  if (bounds.ends.size() != count || bounds.axes.size() != count ||
      bounds.steps.size() != count) {
    return InvalidArgument("starts, ends, axes and steps are ", count, ", ",
                           bounds.ends.size(), ", ", bounds.axes.size(),
                           " and ", bounds.steps.size(), " values");
  }
  return bounds;
}

/// The elements start:end:step of an axis of `extent` elements, clamped as ONNX
/// says.
AxisRange Clamped(int64_t start, int64_t end, int64_t step, int64_t extent) {
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  step = std::clamp(step, -kFar, kFar);
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    const int64_t count = end > start ? (end - start + step - 1) / step : 0;
    return {start, count, step};
  }
  if (extent == 0) return {0, 0, 1};
  start = std::clamp<int64_t>(start, 0, extent - 1);
  end = std::clamp<int64_t>(end, -1, extent - 1);
  const int64_t count = start > end ? (start - end - step - 1) / -step : 0;
  return {start, count, step};
}

}  // namespace

Status Slice(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(node, {{.operand = 1, .first = 10},
                                         {.operand = 2, .first = 10},
                                         {.operand = 3, .first = 10},
                                         {.operand = 4, .first = 10},
                                         {.attribute = "starts", .last = 9},
                                         {.attribute = "ends", .last = 9},
                                         {.attribute = "axes", .last = 9}}));
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const Bounds bounds, ReadBounds(node));
  std::vector<AxisRange> ranges;
  for (const int64_t extent : value.dims) ranges.push_back({0, extent, 1});
  std::vector<bool> seen(value.dims.size(), false);
  for (size_t i = 0; i < bounds.starts.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int axis,
                         PositiveAxis(bounds.axes[i], value.rank()));
    if (seen[axis]) return InvalidArgument("axes have ", axis, " twice");
    seen[axis] = true;
    if (bounds.steps[i] == 0) return InvalidArgument("a step is 0");
    ranges[axis] = Clamped(bounds.starts[i], bounds.ends[i], bounds.steps[i],
                           value.dims[axis]);
  }
  return node.SetOutput(0, TakeRanges(node.builder, value, ranges));
}

Status CenterCropPad(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const auto shape, node.ConstantInts(1));
  std::vector<int64_t> all;
  for (int axis = 0; axis < value.rank(); ++axis) all.push_back(axis);
  TIM_ASSIGN_OR_RETURN(const auto axes, node.Ints("axes", all));
  if (axes.size() != shape.size()) {
    return InvalidArgument("the shape has ", shape.size(), " extents for ",
                           axes.size(), " axes");
  }
  std::vector<AxisRange> ranges;
  for (const int64_t extent : value.dims) ranges.push_back({0, extent, 1});
  std::vector<uint32_t> front(value.dims.size()), back(value.dims.size());
  Dims padded = value.dims;
  bool pads = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int axis, PositiveAxis(axes[i], value.rank()));
    if (shape[i] < 1 || shape[i] > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("the shape has the extent ", shape[i]);
    }
    const int64_t more = shape[i] - value.dims[axis];
    padded[axis] = shape[i];
    if (more < 0) {
      ranges[axis] = {-more / 2, shape[i], 1};
    } else {
      const int at = GraphAxis(axis, value.rank());
      front[at] = static_cast<uint32_t>(more / 2);
      back[at] = static_cast<uint32_t>(more - more / 2);
      pads = pads || more > 0;
    }
  }
  TIM_ASSIGN_OR_RETURN(const Value cropped,
                       TakeRanges(node.builder, value, ranges));
  if (!pads) return node.SetOutput(0, cropped);
  if (value.quantization.Type() != vx::QuantType::NONE) {
    return Unimplemented("padding of quantized codes with 0");
  }
  return node.SetOutput(
      0, node.builder->Add<vx::ops::PadV2>({cropped}, Moved(value, padded),
                                           front, back, 0.0f));
}

}  // namespace tim::models::onnx::movement
