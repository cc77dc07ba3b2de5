// Expand and Tile of ONNX.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/checked_math.h"
#include "models/onnx/ops/movement/movement.h"
#include "models/onnx/ops/movement/moves.h"
#include "tim/vx/ops/broadcast.h"
#include "tim/vx/ops/tile.h"

namespace tim::models::onnx::movement {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

Status CheckExtents(const Dims& dims) {
  for (const int64_t extent : dims) {
    if (extent < 0 || extent > kMost) {
      return InvalidArgument("the extents would be ", DimsText(dims));
    }
  }
  return Extent(dims, 0, dims.size()).status();
}

bool IsEmpty(const Dims& dims) {
  return std::count(dims.begin(), dims.end(), 0) != 0;
}

}  // namespace

Status Expand(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const auto shape, node.ConstantInts(1));
  TIM_RETURN_IF_ERROR(CheckExtents(shape));
  TIM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(value.dims, shape));
  TIM_RETURN_IF_ERROR(CheckExtents(dims));
  if (IsEmpty(dims)) {
    return node.SetOutput(0, EmptyLike(node.builder, value, dims));
  }
  if (value.ElementCount() == Extent(dims, 0, dims.size()).value()) {
    return node.SetOutput(0, node.builder->Reshape(value, dims));
  }
  return node.SetOutput(0, node.builder->Add<vx::ops::Broadcast>(
                               {value}, Moved(value, dims), GraphShape(dims)));
}

Status Tile(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const auto repeats, node.ConstantInts(1));
  if (repeats.size() != value.dims.size()) {
    return InvalidArgument("operand 1 has ", repeats.size(),
                           " repeats for an input of rank ", value.rank());
  }
  Dims dims;
  std::vector<int32_t> multiples(repeats.size());
  for (int axis = 0; axis < value.rank(); ++axis) {
    const int64_t repeat = repeats[axis];
    const auto extent = CheckedMul(value.dims[axis], repeat);
    if (repeat < 0 || repeat > kMost || !extent) {
      return InvalidArgument("operand 1 repeats axis ", axis, " ", repeat,
                             " times");
    }
    dims.push_back(*extent);
    multiples[GraphAxis(axis, value.rank())] = static_cast<int32_t>(repeat);
  }
  TIM_RETURN_IF_ERROR(CheckExtents(dims));
  if (IsEmpty(dims)) {
    return node.SetOutput(0, EmptyLike(node.builder, value, dims));
  }
  if (dims == value.dims) return node.SetOutput(0, value);
  return node.SetOutput(0, node.builder->Add<vx::ops::Tile>(
                               {value}, Moved(value, dims), multiples));
}

}  // namespace tim::models::onnx::movement
