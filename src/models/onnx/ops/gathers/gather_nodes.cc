// Gather, GatherElements and GatherND of ONNX.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/onnx/ops/gathers/gathers.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/gather.h"
#include "tim/vx/ops/gather_elements.h"
#include "tim/vx/ops/gathernd.h"
#include "tim/vx/ops/reverse.h"

namespace tim::models::onnx::gathers {
namespace {

/// Fails where the result has no element: operations make at least one.
Status CheckNotEmpty(const Dims& dims) {
  if (std::count(dims.begin(), dims.end(), 0) == 0) return OkStatus();
  return Unimplemented("a result of the extents ", DimsText(dims));
}

/// Coordinates of the `batch_dims` outermost axes of `dims`, a row for each of
/// `rows`, which are in their order.
Result<Value> BatchCoordinates(Node& node, const Dims& dims, int64_t batch_dims,
                               int64_t rows) {
  if (ByteSizeOf(vx::DataType::INT32, {rows, batch_dims}) > kMostMadeBytes) {
    return Unimplemented(rows, " coordinates of a batch");
  }
  const auto rank = static_cast<size_t>(batch_dims);
  TIM_ASSIGN_OR_RETURN(const int64_t batch, Extent(dims, 0, rank));
  const int64_t each = rows / batch;
  std::vector<int32_t> coordinates(static_cast<size_t>(rows * batch_dims));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row / each;
    for (size_t axis = rank; axis-- > 0; rest /= dims[axis]) {
      coordinates[row * batch_dims + axis] =
          static_cast<int32_t>(rest % dims[axis]);
    }
  }
  return node.builder->ConstantOf(coordinates, {rows, batch_dims});
}

/// Whether coordinates fit the axes from `batch_dims` on; constants alone.
Status CheckCoordinates(const Node& node, const Value& value, int64_t length,
                        int64_t batch_dims) {
  if (node.inputs[1].constant == nullptr) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const auto indices, node.ConstantInts(1));
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t axis = batch_dims + static_cast<int64_t>(i) % length;
    const auto place = PositiveIndex(indices[i], value.dims[axis]);
    if (!place.ok()) return place.status().WithContext("operand 1");
  }
  return OkStatus();
}

/// Coordinates [rows, length] with the innermost axis first, as operations of
/// graphs read them.
Result<Value> InnermostFirst(Node& node, const Value& coordinates) {
  const int64_t length = coordinates.dims[1];
  if (length == 1) return coordinates;
  if (coordinates.constant == nullptr) {
    return node.builder->Add<vx::ops::Reverse>(
        {coordinates}, Wanted::Like(coordinates), std::vector<int32_t>{0});
  }
  TIM_ASSIGN_OR_RETURN(auto numbers, Integers(*coordinates.constant));
  for (auto row = numbers.begin(); row != numbers.end(); row += length) {
    std::reverse(row, row + length);
  }
  return node.builder->ConstantOf(
      std::vector<int32_t>(numbers.begin(), numbers.end()), coordinates.dims);
}

}  // namespace

Status Gather(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, value.rank()));
  TIM_ASSIGN_OR_RETURN(const Value indices,
                       IndexOperand(node, 1, value.dims[axis]));
  Dims dims(value.dims.begin(), value.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), value.dims.begin() + axis + 1, value.dims.end());
  if (indices.constant != nullptr && indices.rank() <= 1) {
    TIM_ASSIGN_OR_RETURN(auto places, node.ConstantInts(1));
    for (int64_t& place : places) {
      if (place < 0) place += value.dims[axis];
    }
    TIM_ASSIGN_OR_RETURN(const Value taken,
                         TakeIndices(node.builder, value, axis, places));
    return node.SetOutput(0, node.builder->Reshape(taken, dims));
  }
  TIM_RETURN_IF_ERROR(CheckNotEmpty(dims));
  if (indices.rank() == 0) {
    return node.SetOutput(0, node.builder->Add<vx::ops::Gather>(
                                 {value, indices}, Moved(value, dims),
                                 GraphAxis(axis, value.rank())));
  }
  // Indices of one axis, so that ranks stay small.
  const int64_t count = indices.ElementCount();
  TIM_ASSIGN_OR_RETURN(const Value places,
                       node.builder->Reshape(indices, {count}));
  Dims flat = value.dims;
  flat[axis] = count;
  TIM_ASSIGN_OR_RETURN(
      const Value taken,
      node.builder->Add<vx::ops::Gather>({value, places}, Moved(value, flat),
                                         GraphAxis(axis, value.rank())));
  return node.SetOutput(0, node.builder->Reshape(taken, dims));
}

Status GatherElements(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, value.rank()));
  TIM_ASSIGN_OR_RETURN(const Value indices,
                       IndexOperand(node, 1, value.dims[axis]));
  if (indices.rank() != value.rank()) {
    return InvalidArgument("operand 1 has rank ", indices.rank(),
                           ", operand 0 ", value.rank());
  }
  TIM_RETURN_IF_ERROR(CheckNotEmpty(indices.dims));
  // The operation counts elements of smaller indices in another way.
  std::vector<AxisRange> ranges;
  for (int i = 0; i < value.rank(); ++i) {
    const int64_t extent = i == axis ? value.dims[i] : indices.dims[i];
    if (extent > value.dims[i]) {
      return InvalidArgument("operand 1 is ", Describe(indices),
                             ", larger than operand 0, ", Describe(value),
                             ", along axis ", i);
    }
    ranges.push_back({0, extent, 1});
  }
  TIM_ASSIGN_OR_RETURN(const Value part,
                       TakeRanges(node.builder, value, ranges));
  return node.SetOutput(0, node.builder->Add<vx::ops::GatherElements>(
                               {part, indices}, Moved(value, indices.dims),
                               GraphAxis(axis, value.rank())));
}

Status GatherND(Node& node) {
  TIM_RETURN_IF_ERROR(
      CheckSpells(node, {{.attribute = "batch_dims", .first = 12}}));
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const Value indices, IndexOperand(node, 1, -1));
  TIM_ASSIGN_OR_RETURN(const int64_t batch_dims, node.Int("batch_dims", 0));
  const int rank = indices.rank();
  const int64_t length = rank == 0 ? 0 : indices.dims.back();
  if (batch_dims < 0 || batch_dims >= rank || length < 1 ||
      batch_dims + length > value.rank() ||
      !std::equal(value.dims.begin(), value.dims.begin() + batch_dims,
                  indices.dims.begin())) {
    return InvalidArgument("operand 1 is ", Describe(indices), ", operand 0 ",
                           Describe(value), " and 'batch_dims' ", batch_dims,
                           ", which do not fit");
  }
  TIM_RETURN_IF_ERROR(CheckCoordinates(node, value, length, batch_dims));
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  const int64_t rows = indices.ElementCount() / length;
  const auto inner = value.dims.begin() + batch_dims + length;
  dims.insert(dims.end(), inner, value.dims.end());
  TIM_RETURN_IF_ERROR(CheckNotEmpty(dims));
  TIM_ASSIGN_OR_RETURN(Value coordinates,
                       node.builder->Reshape(indices, {rows, length}));
  TIM_ASSIGN_OR_RETURN(coordinates, AsInt32(node, coordinates));
  if (batch_dims > 0) {
    TIM_ASSIGN_OR_RETURN(Value batch,
                         BatchCoordinates(node, value.dims, batch_dims, rows));
    TIM_ASSIGN_OR_RETURN(coordinates,
                         Join(node.builder, {batch, coordinates}, 1));
  }
  TIM_ASSIGN_OR_RETURN(coordinates, InnermostFirst(node, coordinates));
  Dims flat = {rows};
  flat.insert(flat.end(), inner, value.dims.end());
  TIM_ASSIGN_OR_RETURN(const Value taken,
                       node.builder->Add<vx::ops::GatherNd>(
                           {value, coordinates}, Moved(value, flat)));
  return node.SetOutput(0, node.builder->Reshape(taken, dims));
}

}  // namespace tim::models::onnx::gathers
