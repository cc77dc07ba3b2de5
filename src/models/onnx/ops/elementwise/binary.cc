// Arithmetic of two and more numbers.
#include <vector>

#include "models/onnx/ops/elementwise/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/addn.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/mod.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr DataType kFloat = DataType::FLOAT32;

struct Pair {
  Value a;
  Value b;
};

Result<Pair> TwoNumbers(Node& node) {
  Pair pair;
  TIM_ASSIGN_OR_RETURN(pair.a, NumberOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(pair.b, NumberOperand(node, 1));
  return pair;
}

template <typename Op>
Status OfTwo(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Pair pair, TwoNumbers(node));
  TIM_RETURN_IF_ERROR(SameType(pair.a, pair.b));
  return node.SetOutput(0, Broadcasting<Op>(node, pair.a, pair.b, pair.a.type));
}

/// Integers of 8 or 16 bits, which wrap in ONNX and saturate in operations.
bool IsShortInteger(DataType type) {
  return IsInteger(type) && ByteSizeOf(type, {}) < 4;
}

/// As OfTwo(), of integers modulo their range.
template <typename Op>
Status OfTwoWrapped(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Pair pair, TwoNumbers(node));
  TIM_RETURN_IF_ERROR(SameType(pair.a, pair.b));
  const DataType type = pair.a.type;
  if (!IsShortInteger(type)) return OfTwo<Op>(node);
  TIM_ASSIGN_OR_RETURN(const Value wide,
                       Broadcasting<Op>(node, pair.a, pair.b, DataType::INT32));
  return node.SetOutput(0, Converted(node, wide, type));
}

/// Mod with the sign of operand 1, or, as floats must have it, C's fmod.
Status Mod(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Pair pair, TwoNumbers(node));
  TIM_RETURN_IF_ERROR(SameType(pair.a, pair.b));
  TIM_ASSIGN_OR_RETURN(const int64_t fmod, node.Int("fmod", 0));
  if (fmod != 0 && fmod != 1) {
    return InvalidArgument("attribute 'fmod' is ", fmod, ", neither 0 nor 1");
  }
  if (fmod == 0 && IsFloat(pair.a.type)) {
    return InvalidArgument("attribute 'fmod' is 0; operands of ",
                           TypeText(pair.a.type), " need 1");
  }
  return node.SetOutput(
      0, Broadcasting<ops::Mod>(node, pair.a, pair.b, pair.a.type,
                                static_cast<int32_t>(fmod)));
}

/// Whether `value` is one constant element, 2.
bool IsTwo(const Value& value) {
  if (value.constant == nullptr || value.ElementCount() != 1) return false;
  const Result<std::vector<float>> element = Floats(*value.constant);
  return element.ok() && element->size() == 1 && element->front() == 2;
}

/// A power has the type of its base.
Status Pow(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Pair pair, TwoNumbers(node));
  if (node.opset < 12) TIM_RETURN_IF_ERROR(SameType(pair.a, pair.b));
  if (IsTwo(pair.b) && pair.a.rank() >= pair.b.rank()) {
    return node.SetOutput(0, Pointwise<ops::Square>(node, pair.a, pair.a.type));
  }
  if (!IsInteger(pair.a.type) || IsInteger(pair.b.type)) {
    return node.SetOutput(
        0, Broadcasting<ops::Pow>(node, pair.a, pair.b, pair.a.type));
  }
  // Integers to the power of floats are truncated.  Powers are right to 1 unit
  // in the last place; the factor lifts those of whole numbers over it.
  TIM_ASSIGN_OR_RETURN(Value power,
                       Broadcasting<ops::Pow>(node, pair.a, pair.b, kFloat));
  TIM_ASSIGN_OR_RETURN(
      power, Broadcasting<ops::Multiply>(node, power,
                                         Scalar(node, 1 + 0x1p-22f), kFloat));
  return node.SetOutput(0, Pointwise<ops::Cast>(node, power, pair.a.type));
}

/// All operands, of one type, and the extents of their broadcast.
struct Terms {
  std::vector<Value> values;
  Dims dims;
};

Result<Terms> AllNumbers(Node& node) {
  if (node.inputs.empty()) return InvalidArgument("there are no operands");
  Terms terms;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(Value value, NumberOperand(node, i));
    if (i == 0) {
      terms.dims = value.dims;
    } else {
      TIM_RETURN_IF_ERROR(SameType(terms.values[0], value));
      TIM_ASSIGN_OR_RETURN(terms.dims, BroadcastDims(terms.dims, value.dims));
    }
    terms.values.push_back(std::move(value));
  }
  return terms;
}

/// The least or greatest of all operands, one after the other.
template <typename Op>
Status Extreme(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Terms terms, AllNumbers(node));
  Value made = terms.values[0];
  for (size_t i = 1; i < terms.values.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(
        made, Broadcasting<Op>(node, made, terms.values[i], made.type));
  }
  return node.SetOutput(0, std::move(made));
}

/// The sum of two terms or more, as `type`.
Result<Value> SumOf(Node& node, const Terms& terms, DataType type) {
  if (terms.values.size() == 2) {
    return Broadcasting<ops::Add>(node, terms.values[0], terms.values[1], type);
  }
  return node.builder->Add<ops::AddN>(
      terms.values, Wanted::Of(type, terms.dims),
      static_cast<uint32_t>(terms.values.size()));
}

Status Sum(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Terms terms, AllNumbers(node));
  if (terms.values.size() == 1) return node.SetOutput(0, terms.values[0]);
  return node.SetOutput(0, SumOf(node, terms, terms.values[0].type));
}

Status Mean(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Terms terms, AllNumbers(node));
  const DataType type = terms.values[0].type;
  if (!IsFloat(type)) {
    return Unimplemented("operands are ", TypeText(type),
                         "; float32 and float16 are taken");
  }
  if (terms.values.size() == 1) return node.SetOutput(0, terms.values[0]);
  TIM_ASSIGN_OR_RETURN(Value sum, SumOf(node, terms, kFloat));
  const auto count = static_cast<float>(terms.values.size());
  return node.SetOutput(
      0, Broadcasting<ops::Div>(node, sum, Scalar(node, count), type));
}

}  // namespace

void AddBinary(OperatorTable* table) {
  const auto add = [table](const char* op, NodeFunction function,
                           int first = 7) {
    table->Add("", op, first, function);
  };
  // Attributes told before opset 7 how operands are broadcast.
  add("Add", Strict<OfTwoWrapped<ops::Add>, 2>);
  add("Sub", Strict<OfTwoWrapped<ops::Sub>, 2>);
  add("Mul", Strict<OfTwoWrapped<ops::Multiply>, 2>);
  add("Div", Strict<OfTwo<ops::Div>, 2>);
  add("Pow", Strict<Pow, 2>);
  add("Mod", Strict<Mod, 2, "fmod">, 10);
  add("Min", Strict<Extreme<ops::Minimum>, kAnyNumber>, 6);
  add("Max", Strict<Extreme<ops::Maximum>, kAnyNumber>, 6);
  add("Sum", Strict<Sum, kAnyNumber>, 6);
  add("Mean", Strict<Mean, kAnyNumber>, 6);
}

}  // namespace tim::models::onnx
