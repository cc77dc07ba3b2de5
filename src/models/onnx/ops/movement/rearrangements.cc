// DepthToSpace, SpaceToDepth, Trilu, ReverseSequence and Compress of ONNX.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/onnx/ops/movement/movement.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/depth2space.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/space2depth.h"

namespace tim::models::onnx::movement {
namespace {

/// Operand 0, an image [N, C, H, W].
Result<Value> Image(const Node& node) {
  TIM_ASSIGN_OR_RETURN(Value value, MovedOperand(node, 0));
  if (value.rank() == 4) return value;
  return InvalidArgument("operand 0 is ", Describe(value), ", expected rank 4");
}

Result<int> BlockSize(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const int64_t size, node.Int("blocksize", 0));
  if (size >= 1 && size <= 1 << 15) return static_cast<int>(size);
  return InvalidArgument("attribute 'blocksize' is ", size,
                         ", expected from 1 to 32768");
}

}  // namespace

Status DepthToSpace(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(node, {{.attribute = "mode", .first = 11}}));
  TIM_ASSIGN_OR_RETURN(const Value value, Image(node));
  TIM_ASSIGN_OR_RETURN(const int block, BlockSize(node));
  TIM_ASSIGN_OR_RETURN(const std::string mode, node.Text("mode", "DCR"));
  if (mode != "DCR" && mode != "CRD") {
    return InvalidArgument("attribute 'mode' is '", mode,
                           "', expected DCR or CRD");
  }
  const int64_t area = int64_t{block} * block;
  const Dims& in = value.dims;
  if (in[1] % area != 0) {
    return InvalidArgument(in[1], " channels are no multiple of the square of ",
                           "the block size, ", area);
  }
  const auto order = mode == "DCR" ? vx::ops::DepthToSpace::DCR_mode
                                   : vx::ops::DepthToSpace::CRD_mode;
  return node.SetOutput(
      0, node.builder->Add<vx::ops::DepthToSpace>(
             {value},
             Moved(value, {in[0], in[1] / area, in[2] * block, in[3] * block}),
             block, order));
}

Status SpaceToDepth(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, Image(node));
  TIM_ASSIGN_OR_RETURN(const int block, BlockSize(node));
  const Dims& in = value.dims;
  if (in[2] % block != 0 || in[3] % block != 0) {
    return InvalidArgument("operand 0 is ", Describe(value),
                           ", whose height and width are no multiples of ",
                           block);
  }
  return node.SetOutput(0, node.builder->Add<vx::ops::SpaceToDepth>(
                               {value},
                               Moved(value, {in[0], in[1] * block * block,
                                             in[2] / block, in[3] / block}),
                               std::vector<int>{block, block}));
}

Status Trilu(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 2));
  TIM_ASSIGN_OR_RETURN(const int64_t upper, node.Int("upper", 1));
  int64_t diagonal = 0;
  if (node.Has(1)) {
    TIM_ASSIGN_OR_RETURN(const auto given, node.ConstantInts(1));
    if (given.size() != 1) {
      return InvalidArgument("operand 1 has ", given.size(),
                             " elements, expected 1");
    }
    diagonal = given[0];
  }
  const int64_t rows = value.dims[value.rank() - 2];
  const int64_t columns = value.dims[value.rank() - 1];
  if (ByteSizeOf(vx::DataType::BOOL8, {rows, columns}) > kMostMadeBytes) {
    return Unimplemented("a matrix of ", rows, " * ", columns, " elements");
  }
  diagonal = std::clamp(diagonal, -rows, columns);
  std::vector<uint8_t> kept;
  kept.reserve(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t place = column - row;
      kept.push_back(upper != 0 ? place >= diagonal : place <= diagonal);
    }
  }
  const Value mask = BoolConstant(node.builder, kept, {rows, columns});
  return node.SetOutput(0, node.builder->Add<vx::ops::Select>(
                               {mask, value, ZeroLike(node.builder, value)},
                               Moved(value, value.dims)));
}

Status ReverseSequence(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 2));
  TIM_ASSIGN_OR_RETURN(const auto lengths, node.ConstantInts(1));
  TIM_ASSIGN_OR_RETURN(const int64_t batch_axis, node.Int("batch_axis", 1));
  TIM_ASSIGN_OR_RETURN(const int64_t time_axis, node.Int("time_axis", 0));
  if (batch_axis < 0 || batch_axis > 1 || time_axis != 1 - batch_axis) {
    return InvalidArgument("attributes 'batch_axis' and 'time_axis' are ",
                           batch_axis, " and ", time_axis,
                           ", expected 0 and 1 in one order");
  }
  const int64_t batch = value.dims[batch_axis], time = value.dims[time_axis];
  if (static_cast<int64_t>(lengths.size()) != batch) {
    return InvalidArgument("operand 1 has ", lengths.size(),
                           " lengths for a batch of ", batch);
  }
  if (ByteSizeOf(vx::DataType::INT64, {batch, time}) > kMostMadeBytes) {
    return Unimplemented("a batch of ", batch, " sequences of ", time);
  }
  // Both axes are the outermost ones: together they are one axis of slices.
  const int64_t batch_stride = batch_axis == 0 ? time : 1;
  const int64_t time_stride = batch_axis == 0 ? 1 : batch;
  std::vector<int64_t> sources(static_cast<size_t>(batch * time));
  for (int64_t i = 0; i < batch; ++i) {
    if (lengths[i] < 0 || lengths[i] > time) {
      return InvalidArgument("operand 1 has the length ", lengths[i],
                             " for sequences of ", time);
    }
    for (int64_t step = 0; step < time; ++step) {
      const int64_t source = step < lengths[i] ? lengths[i] - 1 - step : step;
      sources[i * batch_stride + step * time_stride] =
          i * batch_stride + source * time_stride;
    }
  }
  Dims merged(value.dims.begin() + 1, value.dims.end());
  merged[0] = batch * time;
  TIM_ASSIGN_OR_RETURN(const Value slices,
                       node.builder->Reshape(value, merged));
  TIM_ASSIGN_OR_RETURN(const Value taken,
                       TakeIndices(node.builder, slices, 0, sources));
  return node.SetOutput(0, node.builder->Reshape(taken, value.dims));
}

Status Compress(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const auto condition, node.ConstantInts(1));
  int axis = 0;
  if (node.HasAttribute("axis")) {
    TIM_ASSIGN_OR_RETURN(axis, node.Axis("axis", 0, value.rank()));
  } else {
    TIM_ASSIGN_OR_RETURN(value,
                         node.builder->Reshape(value, {value.ElementCount()}));
  }
  if (static_cast<int64_t>(condition.size()) > value.dims[axis]) {
    return InvalidArgument("operand 1 has ", condition.size(),
                           " elements for an axis of ", value.dims[axis]);
  }
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  return node.SetOutput(0, TakeIndices(node.builder, value, axis, kept));
}

}  // namespace tim::models::onnx::movement
