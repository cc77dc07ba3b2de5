// Codes whose scales and zero points hold for blocks of an axis: real values of
// known ones are computed when the model is read, others by operations.
#include "models/onnx/ops/quantized/blocks.h"

#include <cstdint>
#include <vector>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/gather.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

struct Blocks {
  int axis = 0;
  int64_t size = 0;
};

bool IsNibble(DataType type) {
  return type == DataType::INT4 || type == DataType::UINT4;
}

// The blocks of operand 0; fails where operands 1 and 2 have not one element
// for each.
Result<Blocks> BlocksOf(const Node& node) {
  Blocks blocks;
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(blocks.axis, node.Axis("axis", 1, x.rank()));
  TIM_ASSIGN_OR_RETURN(blocks.size, node.Int("block_size", 0));
  const int64_t extent = x.dims[blocks.axis];
  if (blocks.size < 1 || extent < 1) {
    return InvalidArgument("attribute 'block_size' is ", blocks.size,
                           " for an axis of ", extent);
  }
  Dims dims = x.dims;
  dims[blocks.axis] = (extent - 1) / blocks.size + 1;
  for (size_t input = 1; input < node.inputs.size(); ++input) {
    if (!node.Has(input) || node.inputs[input].dims == dims) continue;
    return InvalidArgument("operand ", input, " is ",
                           Describe(node.inputs[input]), ", expected [",
                           StrJoin(dims, ","), "] for blocks of ", blocks.size,
                           " along axis ", blocks.axis, " of ", Describe(x));
  }
  return blocks;
}

// Operand `input` as plain integers of whole bytes.
Result<Value> WholeCodes(Node& node, size_t input) {
  const Value& codes = node.inputs[input];
  if (!IsNibble(codes.type)) return Unlabelled(node.builder, codes);
  TIM_ASSIGN_OR_RETURN(const Dims nibbles, NibblesOf(node, input));
  const std::vector<int8_t> bytes(nibbles.begin(), nibbles.end());
  return node.builder->ConstantOf(bytes, codes.dims);
}

// The number of the block of each element of `dims`.
std::vector<size_t> BlockNumbers(const Dims& dims, const Blocks& blocks) {
  size_t inner = 1;
  for (size_t i = static_cast<size_t>(blocks.axis) + 1; i < dims.size(); ++i) {
    inner *= static_cast<size_t>(dims[i]);
  }
  const auto extent = static_cast<size_t>(dims[blocks.axis]);
  const auto size = static_cast<size_t>(blocks.size);
  const size_t in_row = (extent - 1) / size + 1;
  size_t count = inner * extent;
  for (int i = 0; i < blocks.axis; ++i) count *= static_cast<size_t>(dims[i]);
  std::vector<size_t> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t row = i / inner / extent;
    const size_t along = i / inner % extent;
    numbers[i] = (row * in_row + along / size) * inner + i % inner;
  }
  return numbers;
}

// A scale or zero point once for each index of the axis of `x`.
Result<Value> Spread(GraphBuilder* builder, const Value& parameter,
                     const Value& x, const Blocks& blocks) {
  const int64_t extent = x.dims[blocks.axis];
  std::vector<int32_t> places;
  for (int64_t i = 0; i < extent; ++i) {
    places.push_back(static_cast<int32_t>(i / blocks.size));
  }
  return builder->Add<vx::ops::Gather>(
      {parameter, builder->ConstantOf(places, {extent})},
      Wanted::Of(parameter.type, x.dims), GraphAxis(blocks.axis, x.rank()));
}

// (x - zero point) * scale of operands that are all known.
Result<Value> KnownReals(Node& node, const Blocks& blocks) {
  TIM_ASSIGN_OR_RETURN(const Value x, WholeCodes(node, 0));
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> codes, Integers(*x.constant));
  TIM_ASSIGN_OR_RETURN(const std::vector<float> scales, node.ConstantFloats(1));
  std::vector<int64_t> zeros(scales.size(), 0);
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(const Value zero, WholeCodes(node, 2));
    TIM_ASSIGN_OR_RETURN(zeros, Integers(*zero.constant));
  }
  const std::vector<size_t> numbers = BlockNumbers(x.dims, blocks);
  std::vector<float> reals(codes.size());
  for (size_t i = 0; i < reals.size(); ++i) {
    const size_t block = numbers[i];
    reals[i] = static_cast<float>(codes[i] - zeros[block]) * scales[block];
  }
  const Value made = node.builder->ConstantOf(reals, x.dims);
  return node.builder->Cast(made, node.inputs[1].type);
}

// The same by operations.
Result<Value> Reals(Node& node, const Blocks& blocks) {
  GraphBuilder* builder = node.builder;
  TIM_ASSIGN_OR_RETURN(Value codes, WholeCodes(node, 0));
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(Value zero, WholeCodes(node, 2));
    TIM_ASSIGN_OR_RETURN(zero, Spread(builder, zero, codes, blocks));
    TIM_ASSIGN_OR_RETURN(
        codes, Binary<vx::ops::Sub>(builder, DataType::INT32, codes, zero));
  }
  TIM_ASSIGN_OR_RETURN(const Value scale,
                       Spread(builder, node.inputs[1], codes, blocks));
  return Binary<vx::ops::Multiply>(builder, scale.type, codes, scale);
}

bool IsKnown(const Node& node) {
  for (const Value& input : node.inputs) {
    if (!input.IsAbsent() && input.constant == nullptr) return false;
  }
  return true;
}

}  // namespace

Status QuantizeBlocks(Node& node, DataType type) {
  TIM_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(node));
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const Value scale,
                       Spread(node.builder, node.inputs[1], x, blocks));
  Value zero;
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(zero, WholeCodes(node, 2));
    TIM_ASSIGN_OR_RETURN(zero, Spread(node.builder, zero, x, blocks));
  }
  return node.SetOutput(0, QuantizedBy(node.builder, x, scale, zero, type));
}

Status DequantizeBlocks(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(node));
  return node.SetOutput(
      0, IsKnown(node) ? KnownReals(node, blocks) : Reals(node, blocks));
}

}  // namespace tim::models::onnx
