// Reshape, Flatten, Squeeze, Unsqueeze and Transpose of ONNX.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/str_cat.h"
#include "models/onnx/ops/movement/movement.h"
#include "models/onnx/ops/movement/moves.h"

namespace tim::models::onnx::movement {
namespace {

/// Extents that `shape` asks for: 0 keeps the input's (not with `allow_zero`),
/// one -1 is found from the rest.
Result<Dims> Asked(const Value& value, const std::vector<int64_t>& shape,
                   bool allow_zero) {
  Dims dims = shape;
  int open = -1;
  bool has_zero = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) {
      if (open >= 0) return InvalidArgument("the shape has more than one -1");
      open = static_cast<int>(i);
      dims[i] = 1;
    } else if (dims[i] == 0 && !allow_zero) {
      if (i >= value.dims.size()) {
        return InvalidArgument("the shape keeps extent ", i,
                               " of an input of rank ", value.rank());
      }
      dims[i] = value.dims[i];
    } else if (dims[i] < 0) {
      return InvalidArgument("the shape has the extent ", dims[i]);
    }
    has_zero = has_zero || dims[i] == 0;
  }
  TIM_ASSIGN_OR_RETURN(const int64_t rest, Extent(dims, 0, dims.size()));
  const int64_t count = value.ElementCount();
  if (open >= 0) {
    if (has_zero) {
      return InvalidArgument("the shape ", DimsText(shape),
                             " leaves its -1 open: it has an extent of 0");
    }
    dims[open] = count / rest;
  }
  if (has_zero ? count != 0 : count != rest * (open < 0 ? 1 : dims[open])) {
    return InvalidArgument("the shape ", DimsText(shape), " is not one of ",
                           count, " elements, those of ", Describe(value));
  }
  return dims;
}

/// `axes` of a tensor of `rank`, as flags.
Result<std::vector<bool>> AxisFlags(const std::vector<int64_t>& axes,
                                    int rank) {
  std::vector<bool> flags(rank, false);
  for (const int64_t axis : axes) {
    TIM_ASSIGN_OR_RETURN(const int place, PositiveAxis(axis, rank));
    if (flags[place]) return InvalidArgument("axes have ", axis, " twice");
    flags[place] = true;
  }
  return flags;
}

}  // namespace

Status Reshape(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  TIM_RETURN_IF_ERROR(
      CheckSpells(node, {{.attribute = "allowzero", .first = 14}}));
  TIM_ASSIGN_OR_RETURN(const auto shape, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const int64_t allow_zero, node.Int("allowzero", 0));
  TIM_ASSIGN_OR_RETURN(const Dims dims, Asked(value, shape, allow_zero != 0));
  return node.SetOutput(0, node.builder->Reshape(value, dims));
}

Status Flatten(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(int64_t axis, node.Int("axis", 1));
  if (axis < -value.rank() || axis > value.rank()) {
    return InvalidArgument("attribute 'axis' is ", axis, ", expected from ",
                           -value.rank(), " to ", value.rank());
  }
  if (axis < 0) axis += value.rank();
  const auto split = static_cast<size_t>(axis);
  TIM_ASSIGN_OR_RETURN(const int64_t rows, Extent(value.dims, 0, split));
  TIM_ASSIGN_OR_RETURN(const int64_t columns,
                       Extent(value.dims, split, value.dims.size()));
  return node.SetOutput(0, node.builder->Reshape(value, {rows, columns}));
}

Status Squeeze(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(node, {{.operand = 1, .first = 13}}));
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  std::vector<int64_t> ones;
  for (int axis = 0; axis < value.rank(); ++axis) {
    if (value.dims[axis] == 1) ones.push_back(axis);
  }
  TIM_ASSIGN_OR_RETURN(auto axes, node.IntsSince(13, 1, "axes", ones));
  if (axes.empty()) axes = ones;
  TIM_ASSIGN_OR_RETURN(const auto gone, AxisFlags(axes, value.rank()));
  Dims dims;
  for (int axis = 0; axis < value.rank(); ++axis) {
    if (!gone[axis]) {
      dims.push_back(value.dims[axis]);
    } else if (value.dims[axis] != 1) {
      return InvalidArgument("axes name axis ", axis, ", whose extent is ",
                             value.dims[axis], ", not 1");
    }
  }
  return node.SetOutput(0, node.builder->Reshape(value, dims));
}

Status Unsqueeze(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(node, {{.operand = 1, .first = 13}}));
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const auto axes, node.IntsSince(13, 1, "axes", {}));
  const int rank = value.rank() + static_cast<int>(axes.size());
  TIM_ASSIGN_OR_RETURN(const auto added, AxisFlags(axes, rank));
  Dims dims;
  for (int axis = 0, from = 0; axis < rank; ++axis) {
    dims.push_back(added[axis] ? 1 : value.dims[from++]);
  }
  return node.SetOutput(0, node.builder->Reshape(value, dims));
}

Status Transpose(Node& node) {
  if (!node.Has(0)) return InvalidArgument("operand 0 is absent");
  const Value& value = node.inputs[0];
  const int rank = value.rank();
  std::vector<int64_t> reversed;
  for (int axis = rank - 1; axis >= 0; --axis) reversed.push_back(axis);
  TIM_ASSIGN_OR_RETURN(const auto permutation, node.Ints("perm", reversed));
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  std::reverse(reversed.begin(), reversed.end());
  if (sorted != reversed) {
    return InvalidArgument("attribute 'perm' is ", DimsText(permutation),
                           ", no permutation of ", rank, " axes");
  }
  const std::vector<int> axes(permutation.begin(), permutation.end());
  return node.SetOutput(0, node.builder->Transpose(value, axes));
}

}  // namespace tim::models::onnx::movement
