// Products of float matrices by weights of few bits, and those of codes whose
// scales are known at run time.
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/contributed/contributed.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/products/product.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

Status MatMulIntegerToFloat(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 4, 7));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  for (size_t i = 2; i < 4; ++i) TIM_RETURN_IF_ERROR(CheckFloat(node, i));
  TIM_ASSIGN_OR_RETURN(
      const Value sums,
      IntegerProduct(node.builder, node.inputs[0], OptionalOperand(node, 4),
                     node.inputs[1], OptionalOperand(node, 5)));
  return node.SetOutput(0, RealSums(node.builder, sums, node.inputs[2],
                                    node.inputs[3], OptionalOperand(node, 6)));
}

Status DynamicQuantizeMatMul(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 3, 5));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 2));
  CodedMatrix matrix = {.codes = {}, .scale = node.inputs[2]};
  TIM_ASSIGN_OR_RETURN(matrix.codes, Centered(node.builder, node.inputs[1],
                                              OptionalOperand(node, 3)));
  return node.SetOutput(0, DynamicProduct(node.builder, node.inputs[0], matrix,
                                          OptionalOperand(node, 4)));
}

// Weights of MatMulNBits: columns of `depth` codes of 4 bits in blocks.
struct Blocks {
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t size = 0;
  int64_t per_column() const { return (depth + size - 1) / size; }
  int64_t column_bytes() const { return per_column() * size / 2; }
};

Result<Blocks> BlocksOf(const Node& node) {
  Blocks blocks;
  TIM_ASSIGN_OR_RETURN(blocks.depth, node.Int("K", 0));
  TIM_ASSIGN_OR_RETURN(blocks.columns, node.Int("N", 0));
  TIM_ASSIGN_OR_RETURN(blocks.size, node.Int("block_size", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t bits, node.Int("bits", 4));
  constexpr int64_t kMost = int64_t{1} << 24;
  if (bits != 4) {
    return Unimplemented("attribute 'bits' is ", bits, ", taken is 4");
  }
  if (blocks.depth < 1 || blocks.depth > kMost || blocks.columns < 1 ||
      blocks.columns > kMost || blocks.size < 2 || blocks.size > kMost ||
      blocks.size % 2 != 0) {
    return InvalidArgument("attributes 'K', 'N' and 'block_size' are ",
                           blocks.depth, ", ", blocks.columns, " and ",
                           blocks.size);
  }
  return blocks;
}

// The bytes of a constant operand; fails where there are not so many.
Result<const uint8_t*> BytesOf(const Node& node, size_t index, int64_t count) {
  const Value& value = node.inputs[index];
  if (value.constant == nullptr || value.type != DataType::UINT8) {
    return Unimplemented("operand ", index, " is ", Describe(value),
                         ", constant uint8 is taken");
  }
  if (value.ElementCount() != count ||
      static_cast<int64_t>(value.constant->bytes) < count) {
    return InvalidArgument("operand ", index, " is ", Describe(value),
                           ", expected ", count, " bytes");
  }
  return static_cast<const uint8_t*>(value.constant->data.get());
}

int Nibble(const uint8_t* bytes, int64_t index) {
  const int both = bytes[index / 2];
  return index % 2 == 0 ? both & 15 : both >> 4;
}

Result<Value> RealWeights(const Node& node, const Blocks& blocks) {
  const int64_t count = blocks.per_column();
  TIM_ASSIGN_OR_RETURN(
      const uint8_t* codes,
      BytesOf(node, 1, blocks.columns * blocks.column_bytes()));
  TIM_ASSIGN_OR_RETURN(const std::vector<float> scales, node.ConstantFloats(2));
  if (static_cast<int64_t>(scales.size()) != blocks.columns * count) {
    return InvalidArgument("operand 2 has ", scales.size(),
                           " scales, expected ", blocks.columns * count);
  }
  const uint8_t* zeros = nullptr;
  const int64_t zero_bytes = (count + 1) / 2;
  if (node.Has(3)) {
    TIM_ASSIGN_OR_RETURN(zeros, BytesOf(node, 3, blocks.columns * zero_bytes));
  }
  constexpr int kMiddle = 8;
  std::vector<float> weights;
  weights.reserve(static_cast<size_t>(blocks.columns * blocks.depth));
  for (int64_t column = 0; column < blocks.columns; ++column) {
    const uint8_t* own = codes + column * blocks.column_bytes();
    for (int64_t k = 0; k < blocks.depth; ++k) {
      const int64_t block = k / blocks.size;
      const int zero = zeros == nullptr
                           ? kMiddle
                           : Nibble(zeros + column * zero_bytes, block);
      weights.push_back(static_cast<float>(Nibble(own, k) - zero) *
                        scales[column * count + block]);
    }
  }
  return node.builder->ConstantOf(weights, {blocks.columns, blocks.depth});
}

Status MatMulNBits(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 3, 6));
  TIM_RETURN_IF_ERROR(CheckAttributes(
      node, {"K", "N", "accuracy_level", "bits", "block_size"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  if (node.Has(4)) {
    return Unimplemented("operand 4, g_idx, an order of the rows");
  }
  TIM_ASSIGN_OR_RETURN(const Blocks blocks, BlocksOf(node));
  const Value& a = node.inputs[0];
  if (a.rank() < 1 || a.dims.back() != blocks.depth) {
    return InvalidArgument("operand 0 is ", Describe(a), ", 'K' is ",
                           blocks.depth);
  }
  TIM_ASSIGN_OR_RETURN(const Value weights, RealWeights(node, blocks));
  return node.SetOutput(
      0, Multiplied(node.builder, a, weights, {.transpose_b = true},
                    Wanted::Of(a.type), OptionalOperand(node, 5)));
}

}  // namespace

void AddDynamicProducts(OperatorTable* table) {
  constexpr char kDomain[] = "com.microsoft";
  table->Add(kDomain, "MatMulNBits", 1, MatMulNBits);
  table->Add(kDomain, "DynamicQuantizeMatMul", 1, DynamicQuantizeMatMul);
  table->Add(kDomain, "MatMulIntegerToFloat", 1, MatMulIntegerToFloat);
}

}  // namespace tim::models::onnx
