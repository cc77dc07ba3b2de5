// Truth values: their logic, comparisons, and choices by them.
#include <limits>

#include "models/onnx/ops/elementwise/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/logical.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr DataType kBool = DataType::BOOL8;

template <typename Op>
Status OfTruths(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value a, BoolOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(Value b, BoolOperand(node, 1));
  return node.SetOutput(0, Broadcasting<Op>(node, a, b, kBool));
}

Status Not(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, BoolOperand(node, 0));
  return node.SetOutput(0, Pointwise<ops::LogicalNot>(node, x, kBool));
}

template <typename Op>
Status Comparison(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value a, NumberOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(Value b, NumberOperand(node, 1));
  TIM_RETURN_IF_ERROR(SameType(a, b));
  return node.SetOutput(0, Broadcasting<Op>(node, a, b, kBool));
}

/// Equal takes truth values, too.
Status Equal(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value a, PlainOperand(node, 0));
  if (!IsBool(a.type)) return Comparison<ops::Equal>(node);
  return OfTruths<ops::Equal>(node);
}

Status Where(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value condition, BoolOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(Value x, PlainOperand(node, 1));
  TIM_ASSIGN_OR_RETURN(Value y, PlainOperand(node, 2));
  TIM_RETURN_IF_ERROR(SameType(x, y));
  TIM_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(x.dims, y.dims));
  TIM_ASSIGN_OR_RETURN(dims, BroadcastDims(condition.dims, dims));
  return node.SetOutput(0, node.builder->Add<ops::Select>(
                               {condition, x, y}, Wanted::Of(x.type, dims)));
}

/// NaN alone differs from itself.
Status IsNaN(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  return node.SetOutput(0, Broadcasting<ops::NotEqual>(node, x, x, kBool));
}

Status IsInf(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const int64_t positive, node.Int("detect_positive", 1));
  TIM_ASSIGN_OR_RETURN(const int64_t negative, node.Int("detect_negative", 1));
  if (positive == 0 && negative == 0) {
    const uint8_t none = 0;
    TIM_ASSIGN_OR_RETURN(HostArray array, FilledArray(kBool, x.dims, &none));
    return node.SetOutput(0, node.builder->Constant(std::move(array)));
  }
  if (positive != 0 && negative != 0) {
    TIM_ASSIGN_OR_RETURN(x, Pointwise<ops::Abs>(node, x, x.type));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  const Value limit = Scalar(node, positive != 0 ? infinity : -infinity);
  return node.SetOutput(0, Broadcasting<ops::Equal>(node, x, limit, kBool));
}

}  // namespace

void AddLogic(OperatorTable* table) {
  const auto add = [table](const char* op, NodeFunction function,
                           int first = 7) {
    table->Add("", op, first, function);
  };
  // Attributes told before opset 7 how operands are broadcast.
  add("And", Strict<OfTruths<ops::LogicalAnd>, 2>);
  add("Or", Strict<OfTruths<ops::LogicalOr>, 2>);
  add("Xor", Strict<OfTruths<ops::NotEqual>, 2>);
  add("Not", Strict<Not, 1>, 1);
  add("Equal", Strict<Equal, 2>);
  add("Less", Strict<Comparison<ops::Less>, 2>);
  add("Greater", Strict<Comparison<ops::Greater>, 2>);
  add("LessOrEqual", Strict<Comparison<ops::LessOrEqual>, 2>, 12);
  add("GreaterOrEqual", Strict<Comparison<ops::GreaterOrEqual>, 2>, 12);
  add("Where", Strict<Where, 3>, 9);
  add("IsNaN", Strict<IsNaN, 1>, 9);
  add("IsInf", Strict<IsInf, 1, "detect_negative", "detect_positive">, 10);
}

}  // namespace tim::models::onnx
