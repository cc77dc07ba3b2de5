// Functions of one number: those of the graph, and others made of them.
#include "models/onnx/ops/elementwise/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/erf.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr DataType kFloat = DataType::FLOAT32;

/// Functions that are exact for integers, too.
template <typename Op>
Status OfNumbers(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, NumberOperand(node, 0));
  return node.SetOutput(0, Pointwise<Op>(node, x, x.type));
}

template <typename Op>
Status OfFloats(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  return node.SetOutput(0, Pointwise<Op>(node, x, x.type));
}

Status Neg(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, NumberOperand(node, 0));
  if (IsUnsigned(x.type)) {
    return InvalidArgument("operand 0 is ", TypeText(x.type),
                           ", which has no sign");
  }
  return node.SetOutput(0, Pointwise<ops::Neg>(node, x, x.type));
}

/// arcsin(x) = arctan(x / sqrt((1 - x)(1 + x))), whose factors are exact where
/// they are small.
Status Asin(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  const Value one = Scalar(node, 1);
  TIM_ASSIGN_OR_RETURN(Value below,
                       Broadcasting<ops::Sub>(node, one, x, kFloat));
  TIM_ASSIGN_OR_RETURN(Value above,
                       Broadcasting<ops::Add>(node, one, x, kFloat));
  TIM_ASSIGN_OR_RETURN(Value square,
                       Broadcasting<ops::Multiply>(node, below, above, kFloat));
  TIM_ASSIGN_OR_RETURN(Value root, Pointwise<ops::Sqrt>(node, square, kFloat));
  TIM_ASSIGN_OR_RETURN(Value ratio,
                       Broadcasting<ops::Div>(node, x, root, kFloat));
  return node.SetOutput(0, Pointwise<ops::ATan>(node, ratio, x.type));
}

/// arccos(x) = 2 arctan(sqrt((1 - x) / (1 + x))).
Status Acos(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  const Value one = Scalar(node, 1);
  TIM_ASSIGN_OR_RETURN(Value below,
                       Broadcasting<ops::Sub>(node, one, x, kFloat));
  TIM_ASSIGN_OR_RETURN(Value above,
                       Broadcasting<ops::Add>(node, one, x, kFloat));
  TIM_ASSIGN_OR_RETURN(Value ratio,
                       Broadcasting<ops::Div>(node, below, above, kFloat));
  TIM_ASSIGN_OR_RETURN(Value root, Pointwise<ops::Sqrt>(node, ratio, kFloat));
  TIM_ASSIGN_OR_RETURN(Value half, Pointwise<ops::ATan>(node, root, kFloat));
  return node.SetOutput(
      0, Broadcasting<ops::Multiply>(node, half, Scalar(node, 2), x.type));
}

/// e^x / 2 and e^-x / 2, finite as long as their sum is.
struct HalfExponentials {
  Value rising;
  Value falling;
};

Result<HalfExponentials> HalfExponentialsOf(Node& node, const Value& x) {
  const Value half = Scalar(node, 0.5f);
  TIM_ASSIGN_OR_RETURN(Value halved,
                       Broadcasting<ops::Multiply>(node, x, half, kFloat));
  TIM_ASSIGN_OR_RETURN(Value root, Pointwise<ops::Exp>(node, halved, kFloat));
  TIM_ASSIGN_OR_RETURN(Value part,
                       Broadcasting<ops::Multiply>(node, root, half, kFloat));
  HalfExponentials made;
  TIM_ASSIGN_OR_RETURN(made.rising,
                       Broadcasting<ops::Multiply>(node, part, root, kFloat));
  TIM_ASSIGN_OR_RETURN(part, Broadcasting<ops::Div>(node, half, root, kFloat));
  TIM_ASSIGN_OR_RETURN(made.falling,
                       Broadcasting<ops::Div>(node, part, root, kFloat));
  return made;
}

Status Cosh(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const HalfExponentials halves,
                       HalfExponentialsOf(node, x));
  return node.SetOutput(
      0, Broadcasting<ops::Add>(node, halves.rising, halves.falling, x.type));
}

/// `near` where |x| < 1, else `far`, as `type`.
Result<Value> NearOrFar(Node& node, const Value& x, const Value& near,
                        const Value& far, DataType type) {
  TIM_ASSIGN_OR_RETURN(Value size, Pointwise<ops::Abs>(node, x, kFloat));
  TIM_ASSIGN_OR_RETURN(
      Value is_near,
      Broadcasting<ops::Less>(node, size, Scalar(node, 1), DataType::BOOL8));
  return node.builder->Add<ops::Select>({is_near, near, far},
                                        Wanted::Of(type, x.dims));
}

/// sinh(x) = (e^x - e^-x) / 2; near 0, where that cancels, 2 t / ((1 - t)(1 +
/// t)) of t = tanh(x / 2).
Status Sinh(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const HalfExponentials halves,
                       HalfExponentialsOf(node, x));
  TIM_ASSIGN_OR_RETURN(
      Value far,
      Broadcasting<ops::Sub>(node, halves.rising, halves.falling, kFloat));
  const Value one = Scalar(node, 1);
  TIM_ASSIGN_OR_RETURN(Value t, Broadcasting<ops::Multiply>(
                                    node, x, Scalar(node, 0.5f), kFloat));
  TIM_ASSIGN_OR_RETURN(t, Pointwise<ops::Tanh>(node, t, kFloat));
  TIM_ASSIGN_OR_RETURN(Value below,
                       Broadcasting<ops::Sub>(node, one, t, kFloat));
  TIM_ASSIGN_OR_RETURN(Value above,
                       Broadcasting<ops::Add>(node, one, t, kFloat));
  TIM_ASSIGN_OR_RETURN(Value square,
                       Broadcasting<ops::Multiply>(node, below, above, kFloat));
  TIM_ASSIGN_OR_RETURN(Value twice, Broadcasting<ops::Add>(node, t, t, kFloat));
  TIM_ASSIGN_OR_RETURN(Value near,
                       Broadcasting<ops::Div>(node, twice, square, kFloat));
  return node.SetOutput(0, NearOrFar(node, x, near, far, x.type));
}

/// arsinh(x) = artanh(x / sqrt(1 + x^2)) near 0; else, with r = 1 / |x|, which
/// does not overflow: sign(x) (ln|x| + ln(1 + sqrt(1 + r^2))).
Status Asinh(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  const Value one = Scalar(node, 1);
  const auto root_above_one = [&](const Value& v) -> Result<Value> {
    TIM_ASSIGN_OR_RETURN(Value square, Pointwise<ops::Square>(node, v, kFloat));
    TIM_ASSIGN_OR_RETURN(Value sum,
                         Broadcasting<ops::Add>(node, square, one, kFloat));
    return Pointwise<ops::Sqrt>(node, sum, kFloat);
  };
  TIM_ASSIGN_OR_RETURN(Value root, root_above_one(x));
  TIM_ASSIGN_OR_RETURN(Value ratio,
                       Broadcasting<ops::Div>(node, x, root, kFloat));
  TIM_ASSIGN_OR_RETURN(Value near, Pointwise<ops::ATanh>(node, ratio, kFloat));

  TIM_ASSIGN_OR_RETURN(Value size, Pointwise<ops::Abs>(node, x, kFloat));
  TIM_ASSIGN_OR_RETURN(Value inverse, Pointwise<ops::Rcp>(node, size, kFloat));
  TIM_ASSIGN_OR_RETURN(root, root_above_one(inverse));
  TIM_ASSIGN_OR_RETURN(root, Broadcasting<ops::Add>(node, root, one, kFloat));
  TIM_ASSIGN_OR_RETURN(Value log, Pointwise<ops::Log>(node, size, kFloat));
  TIM_ASSIGN_OR_RETURN(Value rest, Pointwise<ops::Log>(node, root, kFloat));
  TIM_ASSIGN_OR_RETURN(log, Broadcasting<ops::Add>(node, log, rest, kFloat));
  TIM_ASSIGN_OR_RETURN(Value sign, Pointwise<ops::Sign>(node, x, kFloat));
  TIM_ASSIGN_OR_RETURN(Value far,
                       Broadcasting<ops::Multiply>(node, log, sign, kFloat));
  return node.SetOutput(0, NearOrFar(node, x, near, far, x.type));
}

}  // namespace

void AddUnary(OperatorTable* table) {
  const auto add = [table](const char* op, NodeFunction function,
                           int first = 1) {
    table->Add("", op, first, function);
  };
  add("Abs", Strict<OfNumbers<ops::Abs>, 1>);
  add("Neg", Strict<Neg, 1>);
  add("Sign", Strict<OfNumbers<ops::Sign>, 1>, 9);
  add("Ceil", Strict<OfFloats<ops::Ceil>, 1>);
  add("Floor", Strict<OfFloats<ops::Floor>, 1>);
  add("Round", Strict<OfFloats<ops::Round>, 1>, 11);
  add("Exp", Strict<OfFloats<ops::Exp>, 1>);
  add("Log", Strict<OfFloats<ops::Log>, 1>);
  add("Sqrt", Strict<OfFloats<ops::Sqrt>, 1>);
  add("Reciprocal", Strict<OfFloats<ops::Rcp>, 1>);
  add("Erf", Strict<OfFloats<ops::Erf>, 1>, 9);
  add("Sin", Strict<OfFloats<ops::Sin>, 1>, 7);
  add("Cos", Strict<OfFloats<ops::Cos>, 1>, 7);
  add("Tan", Strict<OfFloats<ops::Tan>, 1>, 7);
  add("Asin", Strict<Asin, 1>, 7);
  add("Acos", Strict<Acos, 1>, 7);
  add("Atan", Strict<OfFloats<ops::ATan>, 1>, 7);
  add("Sinh", Strict<Sinh, 1>, 9);
  add("Cosh", Strict<Cosh, 1>, 9);
  add("Tanh", Strict<OfFloats<ops::Tanh>, 1>);
  add("Asinh", Strict<Asinh, 1>, 9);
  add("Acosh", Strict<OfFloats<ops::ACosh>, 1>, 9);
  add("Atanh", Strict<OfFloats<ops::ATanh>, 1>, 9);
  add("Sigmoid", Strict<OfFloats<ops::Sigmoid>, 1>);
}

}  // namespace tim::models::onnx
