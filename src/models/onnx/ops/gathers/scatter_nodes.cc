// Scatter, ScatterElements and ScatterND of ONNX.
#include <cstdint>
#include <string>
#include <vector>

#include "models/onnx/ops/gathers/gathers.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/scatternd_onnx_v16.h"

namespace tim::models::onnx::gathers {
namespace {

using Scattering = vx::ops::ScatterND_ONNX_V16;

/// The attribute: add and mul came with opset 16, max and min with 18.
Result<Scattering::ReductionType> Reduction(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const std::string name, node.Text("reduction", "none"));
  if (name == "none") return Scattering::REDUCTION_NONE;
  if (name == "add" && node.opset >= 16) return Scattering::REDUCTION_ADD;
  if (name == "mul" && node.opset >= 16) return Scattering::REDUCTION_MUL;
  if (name == "max" && node.opset >= 18) return Scattering::REDUCTION_MAX;
  if (name == "min" && node.opset >= 18) return Scattering::REDUCTION_MIN;
  return InvalidArgument("attribute 'reduction' is '", name, "' at opset ",
                         node.opset,
                         "; none is taken, add and mul from opset 16 on, max "
                         "and min from 18 on");
}

Status CheckUpdates(const Node& node, const Value& value, const Dims& expected,
                    Scattering::ReductionType reduction) {
  const Value& updates = node.inputs[2];
  TIM_RETURN_IF_ERROR(SameType(value, updates));
  if (updates.dims != expected) {
    return InvalidArgument("operand 2 is ", Describe(updates), ", expected ",
                           DimsText(expected));
  }
  if (!(updates.quantization == value.quantization)) {
    return Unimplemented("operand 2 has another quantization than operand 0");
  }
  if (reduction == Scattering::REDUCTION_NONE) return OkStatus();
  if (value.quantization.Type() != vx::QuantType::NONE) {
    return Unimplemented(
        "operand 0 is quantized: its elements may be replaced, ",
        "but attribute 'reduction' is not taken with codes");
  }
  if (value.type == vx::DataType::BOOL8) {
    return Unimplemented(
        "operand 0 is bool: its elements may be replaced, but ",
        "attribute 'reduction' is not taken");
  }
  return OkStatus();
}

/// `value` with `updates` at `coordinates` [rows, length].
Result<Value> Scattered(Node& node, const Value& value,
                        const Value& coordinates, const Value& updates,
                        Scattering::ReductionType reduction) {
  return node.builder->Add<Scattering>({value, coordinates, updates},
                                       Moved(value, value.dims), reduction);
}

/// Coordinates of one axis, a row each.
Value Column(Node& node, int64_t rows, const std::vector<int32_t>& values) {
  return node.builder->ConstantOf(values, {rows, 1});
}

/// Places of the elements of `indices` in the axes [begin, end) of `dims`,
/// counted as one axis.
std::vector<int32_t> Places(const Dims& indices, const Dims& dims, int begin,
                            int end) {
  int64_t rows = 1, stride = 1;
  for (const int64_t extent : indices) rows *= extent;
  for (size_t i = end; i < indices.size(); ++i) stride *= indices[i];
  std::vector<int32_t> places(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row / stride, place = 0, scale = 1;
    for (int axis = end - 1; axis >= begin; --axis) {
      place += rest % indices[axis] * scale;
      rest /= indices[axis];
      scale *= dims[axis];
    }
    places[row] = static_cast<int32_t>(place);
  }
  return places;
}

}  // namespace

Status ScatterElements(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const Value updates, MovedOperand(node, 2));
  const int rank = value.rank();
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, rank));
  TIM_ASSIGN_OR_RETURN(const Value indices,
                       IndexOperand(node, 1, value.dims[axis]));
  TIM_ASSIGN_OR_RETURN(const auto reduction, Reduction(node));
  TIM_RETURN_IF_ERROR(CheckUpdates(node, value, indices.dims, reduction));
  if (indices.rank() != rank) {
    return InvalidArgument("operand 1 has rank ", indices.rank(),
                           ", operand 0 ", rank);
  }
  for (int i = 0; i < rank; ++i) {
    if (i != axis && indices.dims[i] > value.dims[i]) {
      return InvalidArgument("operand 1 is ", Describe(indices),
                             ", larger than operand 0, ", Describe(value),
                             ", along axis ", i);
    }
  }
  const int64_t rows = indices.ElementCount();
  if (rows == 0) return node.SetOutput(0, value);
  if (rows > kMostMadeBytes / 8) {
    return Unimplemented("operand 1 with ", rows, " elements");
  }
  // The axes before and after the chosen one count as one each.
  TIM_ASSIGN_OR_RETURN(const int64_t outer, Extent(value.dims, 0, axis));
  TIM_ASSIGN_OR_RETURN(const int64_t inner,
                       Extent(value.dims, axis + 1, value.dims.size()));
  TIM_ASSIGN_OR_RETURN(const Value narrow, AsInt32(node, indices));
  TIM_ASSIGN_OR_RETURN(const Value chosen,
                       node.builder->Reshape(narrow, {rows, 1}));
  const Value before =
      Column(node, rows, Places(indices.dims, value.dims, 0, axis));
  const Value after =
      Column(node, rows, Places(indices.dims, value.dims, axis + 1, rank));
  TIM_ASSIGN_OR_RETURN(const Value coordinates,
                       Join(node.builder, {before, chosen, after}, 1));
  TIM_ASSIGN_OR_RETURN(
      const Value flat,
      node.builder->Reshape(value, {outer, value.dims[axis], inner}));
  TIM_ASSIGN_OR_RETURN(const Value row_updates,
                       node.builder->Reshape(updates, {rows}));
  TIM_ASSIGN_OR_RETURN(
      const Value scattered,
      Scattered(node, flat, coordinates, row_updates, reduction));
  return node.SetOutput(0, node.builder->Reshape(scattered, value.dims));
}

Status ScatterND(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const Value updates, MovedOperand(node, 2));
  TIM_ASSIGN_OR_RETURN(const Value indices, IndexOperand(node, 1, -1));
  TIM_ASSIGN_OR_RETURN(const auto reduction, Reduction(node));
  const int64_t length = indices.rank() == 0 ? 0 : indices.dims.back();
  if (length < 1 || length > value.rank()) {
    return InvalidArgument("operand 1 is ", Describe(indices),
                           ", no coordinates in operand 0, ", Describe(value));
  }
  Dims expected(indices.dims.begin(), indices.dims.end() - 1);
  expected.insert(expected.end(), value.dims.begin() + length,
                  value.dims.end());
  TIM_RETURN_IF_ERROR(CheckUpdates(node, value, expected, reduction));
  const int64_t rows = indices.ElementCount() / length;
  if (rows == 0) return node.SetOutput(0, value);
  if (indices.constant != nullptr) {
    TIM_ASSIGN_OR_RETURN(const auto places, node.ConstantInts(1));
    for (size_t i = 0; i < places.size(); ++i) {
      const auto place = PositiveIndex(
          places[i], value.dims[static_cast<int64_t>(i) % length]);
      if (!place.ok()) return place.status().WithContext("operand 1");
    }
  }
  TIM_ASSIGN_OR_RETURN(const Value coordinates,
                       node.builder->Reshape(indices, {rows, length}));
  return node.SetOutput(
      0, Scattered(node, value, coordinates, updates, reduction));
}

}  // namespace tim::models::onnx::gathers
