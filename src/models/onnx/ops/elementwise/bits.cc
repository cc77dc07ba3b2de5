// Bits of integers, by arithmetic.
#include <cstdint>
#include <string>
#include <vector>

#include "models/onnx/ops/elementwise/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/mod.h"
#include "tim/vx/ops/reduce.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr DataType kWord = DataType::UINT32;

Value WordScalar(const Node& node, uint32_t value) {
  return node.builder->ConstantOf(std::vector<uint32_t>{value}, {});
}

/// Operand `input`, unsigned.
Result<Value> UnsignedOperand(Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(Value value, PlainOperand(node, input));
  if (IsUnsigned(value.type)) return value;
  return Unimplemented("operand ", input, " is ", TypeText(value.type),
                       "; uint8, uint16 and uint32 are taken");
}

/// 2 to the power of `shift`; the greatest uint32 above 31.
Result<Value> PowerOfTwo(Node& node, const Value& shift) {
  return Broadcasting<ops::Pow>(node, WordScalar(node, 2), shift, kWord);
}

/// x * 2^shift without the bits above 32: what is left of x below them is
/// (x mod q) + (x / q mod 2) q of q = 2^(31 - shift), which is in range.
Result<Value> WordShiftedLeft(Node& node, const Value& x, const Value& shift,
                              const Value& power) {
  TIM_ASSIGN_OR_RETURN(
      Value rest,
      Broadcasting<ops::Sub>(node, WordScalar(node, 31), shift, kWord));
  TIM_ASSIGN_OR_RETURN(Value q, PowerOfTwo(node, rest));
  TIM_ASSIGN_OR_RETURN(Value high, Broadcasting<ops::Div>(node, x, q, kWord));
  TIM_ASSIGN_OR_RETURN(
      high, Broadcasting<ops::Mod>(node, high, WordScalar(node, 2), kWord));
  TIM_ASSIGN_OR_RETURN(high, Broadcasting<ops::Multiply>(node, high, q, kWord));
  TIM_ASSIGN_OR_RETURN(Value low, Broadcasting<ops::Mod>(node, x, q, kWord));
  TIM_ASSIGN_OR_RETURN(low, Broadcasting<ops::Add>(node, low, high, kWord));
  return Broadcasting<ops::Multiply>(node, low, power, kWord);
}

/// x * 2^shift without the bits above x's 8 or 16.
Result<Value> ShiftedLeft(Node& node, const Value& x, const Value& power) {
  const Value modulus =
      WordScalar(node, x.type == DataType::UINT8 ? 1u << 8 : 1u << 16);
  TIM_ASSIGN_OR_RETURN(Value factor,
                       Broadcasting<ops::Minimum>(node, power, modulus, kWord));
  TIM_ASSIGN_OR_RETURN(Value product,
                       Broadcasting<ops::Multiply>(node, x, factor, kWord));
  return Broadcasting<ops::Mod>(node, product, modulus, x.type);
}

/// Shifts by less than the type's bits; ONNX leaves others open.
Status BitShift(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, UnsignedOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(Value shift, UnsignedOperand(node, 1));
  TIM_RETURN_IF_ERROR(SameType(x, shift));
  TIM_ASSIGN_OR_RETURN(const std::string direction, node.Text("direction", ""));
  if (direction != "LEFT" && direction != "RIGHT") {
    return InvalidArgument("attribute 'direction' is '", direction,
                           "'; 'LEFT' and 'RIGHT' are taken");
  }
  TIM_ASSIGN_OR_RETURN(Value power, PowerOfTwo(node, shift));
  if (direction == "RIGHT") {
    return node.SetOutput(0, Broadcasting<ops::Div>(node, x, power, x.type));
  }
  if (x.type == kWord) {
    return node.SetOutput(0, WordShiftedLeft(node, x, shift, power));
  }
  return node.SetOutput(0, ShiftedLeft(node, x, power));
}

/// -1 - x; of unsigned integers the greatest one - x.
Status BitwiseNot(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, PlainOperand(node, 0));
  if (!IsInteger(x.type)) {
    return InvalidArgument("operand 0 is ", TypeText(x.type),
                           "; integers are taken");
  }
  Value all = IntScalar(node, -1);
  if (x.type == DataType::UINT8) all = WordScalar(node, 0xFF);
  if (x.type == DataType::UINT16) all = WordScalar(node, 0xFFFF);
  if (x.type == DataType::UINT32) all = WordScalar(node, 0xFFFFFFFF);
  return node.SetOutput(0, Broadcasting<ops::Sub>(node, all, x, x.type));
}

/// The bits of `x`, 32 along a new last axis, as 0 and 1.  `powers` are those
/// of two.
Result<Value> BitsOf(Node& node, const Value& x, const Value& powers) {
  TIM_ASSIGN_OR_RETURN(Value word, Converted(node, x, kWord));
  Dims column = x.dims;
  column.push_back(1);
  TIM_ASSIGN_OR_RETURN(word, node.builder->Reshape(word, column));
  TIM_ASSIGN_OR_RETURN(word, Broadcasting<ops::Div>(node, word, powers, kWord));
  return Broadcasting<ops::Mod>(node, word, WordScalar(node, 2), kWord);
}

enum class BitRule { kAnd, kOr, kXor };

/// `rule` of two bits, as 0 and 1.
Result<Value> Joined(Node& node, BitRule rule, const Value& a, const Value& b) {
  if (rule == BitRule::kAnd) {
    return Broadcasting<ops::Minimum>(node, a, b, kWord);
  }
  if (rule == BitRule::kOr) {
    return Broadcasting<ops::Maximum>(node, a, b, kWord);
  }
  TIM_ASSIGN_OR_RETURN(Value sum, Broadcasting<ops::Add>(node, a, b, kWord));
  return Broadcasting<ops::Mod>(node, sum, WordScalar(node, 2), kWord);
}

/// `rule` of each bit of two integers.
template <BitRule rule>
Status OfBits(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value a, PlainOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(Value b, PlainOperand(node, 1));
  TIM_RETURN_IF_ERROR(SameType(a, b));
  if (!IsInteger(a.type)) {
    return InvalidArgument("operand 0 is ", TypeText(a.type),
                           "; integers are taken");
  }
  std::vector<uint32_t> table;
  for (int bit = 0; bit < 32; ++bit) table.push_back(1u << bit);
  const Value powers = node.builder->ConstantOf(table, {32});
  TIM_ASSIGN_OR_RETURN(const Value bits_a, BitsOf(node, a, powers));
  TIM_ASSIGN_OR_RETURN(const Value bits_b, BitsOf(node, b, powers));
  TIM_ASSIGN_OR_RETURN(Value bits, Joined(node, rule, bits_a, bits_b));
  TIM_ASSIGN_OR_RETURN(bits,
                       Broadcasting<ops::Multiply>(node, bits, powers, kWord));
  TIM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(a.dims, b.dims));
  const bool keeps = dims.empty();
  TIM_ASSIGN_OR_RETURN(Value word, node.builder->Add<ops::ReduceSum>(
                                       {bits}, Wanted::Of(kWord, dims),
                                       std::vector<int32_t>{0}, keeps));
  if (a.type != DataType::INT64) {
    return node.SetOutput(0, Converted(node, word, a.type));
  }
  // INT64 has 32 bits in the graph.
  TIM_ASSIGN_OR_RETURN(word, Converted(node, word, DataType::INT32));
  return node.SetOutput(0, Converted(node, word, a.type));
}

}  // namespace

void AddBits(OperatorTable* table) {
  table->Add("", "BitShift", 11, Strict<BitShift, 2, "direction">);
  table->Add("", "BitwiseAnd", 18, Strict<OfBits<BitRule::kAnd>, 2>);
  table->Add("", "BitwiseOr", 18, Strict<OfBits<BitRule::kOr>, 2>);
  table->Add("", "BitwiseXor", 18, Strict<OfBits<BitRule::kXor>, 2>);
  table->Add("", "BitwiseNot", 18, Strict<BitwiseNot, 1>);
}

}  // namespace tim::models::onnx
