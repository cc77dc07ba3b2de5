// Concat and Split of ONNX.
#include <cstdint>
#include <vector>

#include "models/onnx/ops/movement/movement.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/split.h"

namespace tim::models::onnx::movement {
namespace {

/// Whether extents but that of `axis`, type and quantization are those of
/// `first`.
Status CheckJoins(const Value& first, const Value& value, int axis,
                  size_t input) {
  TIM_RETURN_IF_ERROR(SameType(first, value));
  Dims dims = value.dims;
  if (dims.size() == first.dims.size()) dims[axis] = first.dims[axis];
  if (dims != first.dims) {
    return InvalidArgument("operand ", input, " is ", Describe(value),
                           ", which does not join ", Describe(first),
                           " along axis ", axis);
  }
  if (value.quantization == first.quantization) return OkStatus();
  return Unimplemented("operand ", input, " has another quantization than ",
                       "operand 0: the codes of both cannot be in one tensor");
}

/// Extents of the parts of an axis of `extent` elements.
Result<std::vector<int64_t>> Parts(const Node& node, int64_t extent) {
  TIM_ASSIGN_OR_RETURN(std::vector<int64_t> parts,
                       node.IntsSince(13, 1, "split", {}));
  const auto outputs = static_cast<int64_t>(node.wanted_outputs.size());
  TIM_ASSIGN_OR_RETURN(const int64_t count,
                       node.Int("num_outputs", parts.empty() ? outputs : 0));
  if (parts.empty()) {
    if (count != outputs || count < 1) {
      return InvalidArgument("attribute 'num_outputs' is ", count,
                             ", but the node has ", outputs, " outputs");
    }
    if (extent % count != 0 && node.opset < 18) {
      return InvalidArgument("an axis of ", extent,
                             " elements has no equal parts for ", outputs,
                             " outputs");
    }
    const int64_t part = (extent + count - 1) / count;
    int64_t left = extent;
    for (int64_t i = 0; i < count; ++i) {
      parts.push_back(left < part ? left : part);
      left -= parts.back();
    }
  } else if (count != 0) {
    return InvalidArgument("'split' and 'num_outputs' are both there");
  }
  int64_t left = extent;
  for (const int64_t part : parts) {
    if (part < 0 || part > left) {
      return InvalidArgument("split is ", DimsText(parts), " of an axis of ",
                             extent, " elements");
    }
    left -= part;
  }
  if (left != 0 || static_cast<int64_t>(parts.size()) != outputs) {
    return InvalidArgument("split is ", DimsText(parts), " of an axis of ",
                           extent, " elements, for ", outputs, " outputs");
  }
  return parts;
}

}  // namespace

Status Concat(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value first, MovedOperand(node, 0, 1));
  if (!node.HasAttribute("axis")) {
    return InvalidArgument("attribute 'axis' is absent");
  }
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, first.rank()));
  std::vector<Value> values;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(Value value, MovedOperand(node, i));
    TIM_RETURN_IF_ERROR(CheckJoins(first, value, axis, i));
    if (value.dims[axis] != 0) values.push_back(std::move(value));
  }
  if (values.empty()) values.push_back(first);
  return node.SetOutput(0, Join(node.builder, values, axis));
}

Status Split(Node& node) {
  TIM_RETURN_IF_ERROR(
      CheckSpells(node, {{.operand = 1, .first = 13},
                         {.attribute = "num_outputs", .first = 18}}));
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, value.rank()));
  TIM_ASSIGN_OR_RETURN(const auto parts, Parts(node, value.dims[axis]));
  std::vector<uint32_t> slices;
  std::vector<Wanted> wanted;
  std::vector<size_t> places;
  for (size_t i = 0; i < parts.size(); ++i) {
    Dims dims = value.dims;
    dims[axis] = parts[i];
    if (parts[i] == 0) {
      TIM_RETURN_IF_ERROR(
          node.SetOutput(i, EmptyLike(node.builder, value, std::move(dims))));
      continue;
    }
    if (parts[i] == value.dims[axis]) {
      TIM_RETURN_IF_ERROR(node.SetOutput(i, value));
      continue;
    }
    slices.push_back(static_cast<uint32_t>(parts[i]));
    wanted.push_back(Moved(value, std::move(dims)));
    places.push_back(i);
  }
  if (slices.empty()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Value> made,
      (node.builder->AddAll<vx::ops::Split, uint32_t, std::vector<uint32_t>>(
          {value}, wanted, static_cast<uint32_t>(GraphAxis(axis, value.rank())),
          slices)));
  for (size_t i = 0; i < places.size(); ++i) {
    TIM_RETURN_IF_ERROR(node.SetOutput(places[i], made[i]));
  }
  return OkStatus();
}

}  // namespace tim::models::onnx::movement
