// Bits of integers, by arithmetic.
#include <cstdint>
#include <string>
#include <vector>

#include "models/onnx/ops/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/mod.h"

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

}  // namespace

void AddBits(OperatorTable* table) {
  table->Add("", "BitShift", 11, Strict<BitShift, 2, "direction">);
  table->Add("", "BitwiseNot", 18, Strict<BitwiseNot, 1>);
}

}  // namespace tim::models::onnx
