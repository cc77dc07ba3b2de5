// Activations with their parameters.
#include "tim/vx/ops/activations.h"

#include <cmath>
#include <string>

#include "models/onnx/ops/elementwise/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr DataType kFloat = DataType::FLOAT32;

Status Relu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, NumberOperand(node, 0));
  return node.SetOutput(0, Pointwise<ops::Relu>(node, x, x.type));
}

template <typename Op>
Status Plain(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  return node.SetOutput(0, Pointwise<Op>(node, x, x.type));
}

/// The attribute `name`, which is no NaN.
Result<float> Parameter(const Node& node, const char* name, float otherwise) {
  TIM_ASSIGN_OR_RETURN(const float value, node.Float(name, otherwise));
  if (!std::isnan(value)) return value;
  return InvalidArgument("attribute '", name, "' is NaN");
}

Status LeakyRelu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float alpha, Parameter(node, "alpha", 0.01f));
  return node.SetOutput(0, Pointwise<ops::LeakyRelu>(node, x, x.type, alpha));
}

Status Elu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float alpha, Parameter(node, "alpha", 1));
  return node.SetOutput(0, Pointwise<ops::Elu>(node, x, x.type, alpha));
}

Status Celu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float alpha, Parameter(node, "alpha", 1));
  if (alpha == 0) {
    return InvalidArgument("attribute 'alpha' is 0, by which Celu divides");
  }
  return node.SetOutput(0, Pointwise<ops::Celu>(node, x, x.type, alpha));
}

Status Selu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float alpha,
                       Parameter(node, "alpha", 1.67326319217681884765625f));
  TIM_ASSIGN_OR_RETURN(const float gamma,
                       Parameter(node, "gamma", 1.05070102214813232421875f));
  return node.SetOutput(0, Pointwise<ops::Selu>(node, x, x.type, alpha, gamma));
}

Status HardSigmoid(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float alpha, Parameter(node, "alpha", 0.2f));
  TIM_ASSIGN_OR_RETURN(const float beta, Parameter(node, "beta", 0.5f));
  return node.SetOutput(
      0, Pointwise<ops::HardSigmoid>(node, x, x.type, alpha, beta));
}

Status PRelu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, NumberOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(Value slope, NumberOperand(node, 1));
  TIM_RETURN_IF_ERROR(SameType(x, slope));
  TIM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(x.dims, slope.dims));
  if (dims != x.dims) {
    return InvalidArgument("operand 1 (slope), ", Describe(slope),
                           ", does not broadcast to operand 0, ", Describe(x));
  }
  return node.SetOutput(0, Broadcasting<ops::Prelu>(node, x, slope, x.type, 0));
}

Status Gelu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const std::string form,
                       node.Text("approximate", "none"));
  if (form != "none" && form != "tanh") {
    return InvalidArgument("attribute 'approximate' is '", form,
                           "'; 'none' and 'tanh' are taken");
  }
  return node.SetOutput(0,
                        Pointwise<ops::Gelu>(node, x, x.type, form == "tanh"));
}

Status Swish(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float alpha, Parameter(node, "alpha", 1));
  if (alpha == 1) {
    return node.SetOutput(0, Pointwise<ops::Swish>(node, x, x.type));
  }
  TIM_ASSIGN_OR_RETURN(Value scaled, Broadcasting<ops::Multiply>(
                                         node, x, Scalar(node, alpha), kFloat));
  TIM_ASSIGN_OR_RETURN(Value gate,
                       Pointwise<ops::Sigmoid>(node, scaled, kFloat));
  return node.SetOutput(0, Broadcasting<ops::Multiply>(node, x, gate, x.type));
}

Status ThresholdedRelu(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float alpha, Parameter(node, "alpha", 1));
  TIM_ASSIGN_OR_RETURN(Value passes,
                       Broadcasting<ops::Greater>(node, x, Scalar(node, alpha),
                                                  DataType::BOOL8));
  return node.SetOutput(
      0, node.builder->Add<ops::Select>({passes, x, Scalar(node, 0)},
                                        Wanted::Of(x.type, x.dims)));
}

/// x + bias below -lambd, x - bias above lambd, else 0.
Status Shrink(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const float bias, Parameter(node, "bias", 0));
  TIM_ASSIGN_OR_RETURN(const float lambd, Parameter(node, "lambd", 0.5f));
  TIM_ASSIGN_OR_RETURN(
      Value is_below,
      Broadcasting<ops::Less>(node, x, Scalar(node, -lambd), DataType::BOOL8));
  TIM_ASSIGN_OR_RETURN(Value is_above,
                       Broadcasting<ops::Greater>(node, x, Scalar(node, lambd),
                                                  DataType::BOOL8));
  TIM_ASSIGN_OR_RETURN(Value raised, Broadcasting<ops::Add>(
                                         node, x, Scalar(node, bias), kFloat));
  TIM_ASSIGN_OR_RETURN(Value lowered, Broadcasting<ops::Sub>(
                                          node, x, Scalar(node, bias), kFloat));
  TIM_ASSIGN_OR_RETURN(Value upper, node.builder->Add<ops::Select>(
                                        {is_above, lowered, Scalar(node, 0)},
                                        Wanted::Of(kFloat, x.dims)));
  return node.SetOutput(
      0, node.builder->Add<ops::Select>({is_below, raised, upper},
                                        Wanted::Of(x.type, x.dims)));
}

}  // namespace

void AddActivations(OperatorTable* table) {
  const auto add = [table](const char* op, NodeFunction function,
                           int first = 1) {
    table->Add("", op, first, function);
  };
  add("Relu", Strict<Relu, 1>);
  add("LeakyRelu", Strict<LeakyRelu, 1, "alpha">);
  add("PRelu", Strict<PRelu, 2>, 7);
  add("Elu", Strict<Elu, 1, "alpha">);
  add("Celu", Strict<Celu, 1, "alpha">, 12);
  add("Selu", Strict<Selu, 1, "alpha", "gamma">);
  add("HardSigmoid", Strict<HardSigmoid, 1, "alpha", "beta">);
  add("HardSwish", Strict<Plain<ops::HardSwish>, 1>, 14);
  add("Mish", Strict<Plain<ops::Mish>, 1>, 18);
  add("Swish", Strict<Swish, 1, "alpha">, 24);
  add("Gelu", Strict<Gelu, 1, "approximate">, 20);
  add("Softplus", Strict<Plain<ops::SoftRelu>, 1>);
  add("Softsign", Strict<Plain<ops::SoftSign>, 1>);
  add("ThresholdedRelu", Strict<ThresholdedRelu, 1, "alpha">, 10);
  add("Shrink", Strict<Shrink, 1, "bias", "lambd">, 9);
}

}  // namespace tim::models::onnx
