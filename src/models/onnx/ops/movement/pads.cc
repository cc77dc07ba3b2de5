// Pad of ONNX: counts are added, or cropped where they are negative.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/onnx/ops/movement/movement.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/pad.h"
#include "tim/vx/ops/pad_v2.h"

namespace tim::models::onnx::movement {
namespace {

/// Elements added before and after those of each axis; negative: taken away.
struct Counts {
  std::vector<int64_t> front, back;
};

Result<Counts> ReadCounts(const Node& node, int rank) {
  TIM_ASSIGN_OR_RETURN(const auto pads, node.IntsSince(11, 1, "pads", {}));
  std::vector<int64_t> axes;
  if (node.Has(3)) {
    TIM_ASSIGN_OR_RETURN(axes, node.ConstantInts(3));
  } else {
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  if (pads.size() != 2 * axes.size()) {
    return InvalidArgument("pads are ", pads.size(), " counts for ",
                           axes.size(), " axes, expected ", 2 * axes.size());
  }
  Counts counts{std::vector<int64_t>(rank), std::vector<int64_t>(rank)};
  std::vector<bool> seen(rank, false);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < axes.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int axis, PositiveAxis(axes[i], rank));
    if (seen[axis]) return InvalidArgument("axes have ", axis, " twice");
    seen[axis] = true;
    for (const int64_t count : {pads[i], pads[i + axes.size()]}) {
      if (count < -kMost || count > kMost) {
        return InvalidArgument("pads have the count ", count);
      }
    }
    counts.front[axis] = pads[i];
    counts.back[axis] = pads[i + axes.size()];
  }
  return counts;
}

/// Crops where counts are negative, which then are 0.
Result<Value> Crop(Node& node, const Value& value, Counts* counts) {
  std::vector<AxisRange> ranges;
  for (int axis = 0; axis < value.rank(); ++axis) {
    int64_t& front = counts->front[axis];
    int64_t& back = counts->back[axis];
    const int64_t first = std::max<int64_t>(0, -front);
    const int64_t count =
        value.dims[axis] - first - std::max<int64_t>(0, -back);
    if (count < 0 || (count == 0 && front <= 0 && back <= 0)) {
      return InvalidArgument("pads take away more than axis ", axis, " has, ",
                             value.dims[axis], " elements");
    }
    ranges.push_back({first, count, 1});
    front = std::max<int64_t>(0, front);
    back = std::max<int64_t>(0, back);
  }
  return TakeRanges(node.builder, value, ranges);
}

/// A constant of integers, of codes as real values, or of floats.
Result<float> PadValue(const Node& node, const Value& value) {
  if (node.opset < 11) return node.Float("value", 0);
  // The code 0, not the real value, is what an absent operand means.
  std::vector<float> given = {0};
  if (node.Has(2)) {
    if (node.inputs[2].type != value.type) {
      return InvalidArgument("operand 2 is ", TypeText(node.inputs[2].type),
                             ", the input ", TypeText(value.type));
    }
    TIM_ASSIGN_OR_RETURN(given, node.ConstantFloats(2));
    if (given.size() != 1) {
      return InvalidArgument("operand 2 has ", given.size(),
                             " elements, expected 1");
    }
  }
  const vx::Quantization& quantization = value.quantization;
  if (quantization.Type() == vx::QuantType::NONE) return given[0];
  if (quantization.Type() != vx::QuantType::ASYMMETRIC ||
      quantization.Scales().size() != 1) {
    return Unimplemented("padding of ", Describe(value),
                         " with a value, quantized as it is");
  }
  const int32_t zero =
      quantization.ZeroPoints().empty() ? 0 : quantization.ZeroPoints()[0];
  return (given[0] - static_cast<float>(zero)) * quantization.Scales()[0];
}

Result<Value> PadConstant(Node& node, const Value& value, const Dims& dims,
                          const std::vector<uint32_t>& front,
                          const std::vector<uint32_t>& back) {
  const bool plain = value.quantization.Type() == vx::QuantType::NONE;
  if (plain && !IsFloat(value.type) && node.Has(2) && node.opset >= 11) {
    // Integers above 2^24 are none of float32.
    TIM_ASSIGN_OR_RETURN(const auto given, node.ConstantInts(2));
    if (given.size() != 1 || node.inputs[2].type != value.type ||
        given[0] > std::numeric_limits<int32_t>::max() ||
        given[0] < std::numeric_limits<int32_t>::min()) {
      return InvalidArgument("operand 2 is ", Describe(node.inputs[2]),
                             "; one integer of 32 bits and of the input's type "
                             "is taken");
    }
    return node.builder->Add<vx::ops::Pad>({value}, Moved(value, dims), front,
                                           back,
                                           static_cast<int32_t>(given[0]));
  }
  TIM_ASSIGN_OR_RETURN(const float with, PadValue(node, value));
  return node.builder->Add<vx::ops::PadV2>({value}, Moved(value, dims), front,
                                           back, with);
}

int64_t Wrapped(int64_t index, int64_t extent) {
  return ((index % extent) + extent) % extent;
}

/// Index of the element that stands at `index`, which may be outside.
int64_t Reflected(int64_t index, int64_t extent) {
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  const int64_t place = Wrapped(index, period);
  return place < extent ? place : period - place;
}

/// Axes one by one, by chosen elements.
Result<Value> PadByIndex(Node& node, Value value, const Counts& counts,
                         int64_t (*source)(int64_t index, int64_t extent)) {
  for (int axis = 0; axis < value.rank(); ++axis) {
    const int64_t front = counts.front[axis], back = counts.back[axis];
    const int64_t extent = value.dims[axis];
    if (front == 0 && back == 0) continue;
    if (front + extent + back > kMostMadeBytes / 8) {
      return Unimplemented("padding to ", front + extent + back,
                           " elements along axis ", axis);
    }
    std::vector<int64_t> indices;
    for (int64_t i = -front; i < extent + back; ++i) {
      indices.push_back(source(i, extent));
    }
    TIM_ASSIGN_OR_RETURN(value,
                         TakeIndices(node.builder, value, axis, indices));
  }
  return value;
}

}  // namespace

Status Pad(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(node, {{.operand = 1, .first = 11},
                                         {.operand = 2, .first = 11},
                                         {.operand = 3, .first = 18},
                                         {.attribute = "value", .last = 10}}));
  TIM_ASSIGN_OR_RETURN(const Value given, MovedOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(Counts counts, ReadCounts(node, given.rank()));
  TIM_ASSIGN_OR_RETURN(const std::string mode, node.Text("mode", "constant"));
  TIM_ASSIGN_OR_RETURN(const Value value, Crop(node, given, &counts));
  Dims dims = value.dims;
  std::vector<uint32_t> front(dims.size()), back(dims.size());
  bool pads = false, reflects = true;
  for (int axis = 0; axis < value.rank(); ++axis) {
    const int at = GraphAxis(axis, value.rank());
    front[at] = static_cast<uint32_t>(counts.front[axis]);
    back[at] = static_cast<uint32_t>(counts.back[axis]);
    pads = pads || front[at] != 0 || back[at] != 0;
    const int64_t most = std::max(counts.front[axis], counts.back[axis]);
    reflects = reflects && (most == 0 || most < dims[axis]);
    dims[axis] += counts.front[axis] + counts.back[axis];
  }
  if (!pads) return node.SetOutput(0, value);
  if (mode == "constant") {
    return node.SetOutput(0, PadConstant(node, value, dims, front, back));
  }
  if (value.ElementCount() == 0) {
    return InvalidArgument("mode '", mode, "' of a tensor without elements");
  }
  if (mode == "edge") {
    return node.SetOutput(0, node.builder->Add<vx::ops::Pad>(
                                 {value}, Moved(value, dims), front, back, 0,
                                 vx::ops::Pad::PAD_MODE_EDGE));
  }
  if (mode == "reflect" && reflects) {
    return node.SetOutput(0, node.builder->Add<vx::ops::Pad>(
                                 {value}, Moved(value, dims), front, back, 0,
                                 vx::ops::Pad::PAD_MODE_REFLECT));
  }
  if (mode == "reflect") {
    return node.SetOutput(0, PadByIndex(node, value, counts, Reflected));
  }
  if (mode == "wrap" && node.opset >= 19) {
    return node.SetOutput(0, PadByIndex(node, value, counts, Wrapped));
  }
  return Unimplemented("attribute 'mode' is '", mode, "' at opset ", node.opset,
                       "; constant, edge and reflect are taken, and wrap from "
                       "opset 19 on");
}

}  // namespace tim::models::onnx::movement
