// Operators of activations.h, clip.h and dropout.h: activations of one input.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_registry.h"
#include "kernels/exact_exp.h"
#include "kernels/formulas/exact_erf.h"
#include "kernels/formulas/exact_log.h"
#include "kernels/requantize.h"
#include "ops/elements/unary.h"

namespace tim::ops {
namespace {

using ir::AttributeMap;
using ir::Limits;
using Parameters = ir::PointwiseParameters;

constexpr char kSimple[] = "kernels/formulas/simple_functions.clh";
constexpr char kSmooth[] = "kernels/formulas/activations.clh";
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// NaN stays NaN.
template <typename T>
T Clamp(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}

Limits LimitsOf(Parameters p) { return {p.a, p.b}; }

float HardSwish(float x) {
  if (x <= -3) return 0;
  if (x >= 3) return x;
  return x * ((x + 3) * 0x1.555556p-3f);  // 1 / 6
}

float SoftSign(float x) {
  if (std::isinf(x)) return std::copysign(1.0f, x);
  return x / (1.0f + std::fabs(x));
}

int64_t Rounded(float x) { return kernels::FloatToInt64(std::nearbyintf(x)); }

// What integers round to.
int64_t ReluOfInteger(int64_t x, Parameters) { return x < 0 ? 0 : x; }

int64_t SignOfInteger(int64_t x, Parameters) { return (x > 0) - (x < 0); }

// Relu, Relu1, Relu6 and Clip.
std::vector<UnaryOp> Clamps() {
  return {
      {.name = "Relu",
       .pointwise = {
           .macro = "TIM_RELU",
           .header = kSimple,
           .unary = [](float x, Parameters) { return x < 0 ? 0.0f : x; },
           .unary_integer = ReluOfInteger,
           .limits =
               [](Parameters) {
                 return Limits{0, kInfinity};
               }}},
      {.name = "Relu1",
       .pointwise = {
           .macro = "TIM_RELU1",
           .header = kSimple,
           .unary = [](float x, Parameters) { return Clamp(x, -1.0f, 1.0f); },
           .unary_integer = [](int64_t x,
                               Parameters) { return Clamp<int64_t>(x, -1, 1); },
           .limits =
               [](Parameters) {
                 return Limits{-1, 1};
               }}},
      {.name = "Relu6",
       .pointwise = {
           .macro = "TIM_RELU6",
           .header = kSimple,
           .unary = [](float x, Parameters) { return Clamp(x, 0.0f, 6.0f); },
           .unary_integer = [](int64_t x,
                               Parameters) { return Clamp<int64_t>(x, 0, 6); },
           .limits =
               [](Parameters) {
                 return Limits{0, 6};
               }}},
      {.name = "Clip",
       .pointwise = {
           .macro = "TIM_CLIP",
           .header = kSimple,
           .unary = [](float x, Parameters p) { return Clamp(x, p.a, p.b); },
           .unary_integer =
               [](int64_t x, Parameters p) {
                 return Clamp(x, Rounded(p.a), Rounded(p.b));
               },
           // Where they cross, the upper limit is the result.
           .parameters =
               [](const AttributeMap& attributes) {
                 const float high = attributes.Float("max");
                 return Parameters{std::min(attributes.Float("min"), high),
                                   high};
               },
           .limits = LimitsOf},
       .attributes = {FloatAttribute("min"), FloatAttribute("max")},
       .surplus_inputs = 2},
  };
}

std::vector<UnaryOp> Lines() {
  return {
      {.name = "LeakyRelu",
       .pointwise = {
           .macro = "TIM_LEAKY_RELU",
           .header = kSimple,
           .unary = [](float x,
                       Parameters p) { return x > 0.0f ? x : x * p.a; },
           .parameters =
               [](const AttributeMap& attributes) {
                 return Parameters{attributes.Float("alpha"), 0};
               }},
       .flops = 2,
       .attributes = {FloatAttribute("alpha")}},
      {.name = "Linear",
       .pointwise = {
           .macro = "TIM_LINEAR",
           .header = kSimple,
           .unary = [](float x, Parameters p) { return std::fma(p.a, x, p.b); },
           .parameters =
               [](const AttributeMap& attributes) {
                 return Parameters{attributes.Float("a"),
                                   attributes.Float("b")};
               }},
       .flops = 2,
       .attributes = {FloatAttribute("a"), FloatAttribute("b", 0)}},
      {.name = "HardSigmoid",
       .pointwise = {.macro = "TIM_HARD_SIGMOID",
                     .header = kSimple,
                     .unary =
                         [](float x, Parameters p) {
                           return Clamp(std::fma(p.a, x, p.b), 0.0f, 1.0f);
                         },
                     .parameters =
                         [](const AttributeMap& attributes) {
                           return Parameters{attributes.Float("alpha"),
                                             attributes.Float("beta")};
                         }},
       .flops = 4,
       .attributes = {FloatAttribute("alpha"), FloatAttribute("beta")}},
      {.name = "HardSwish",
       .pointwise = {.macro = "TIM_HARD_SWISH",
                     .header = kSimple,
                     .unary = [](float x, Parameters) { return HardSwish(x); },
                     .unary_integer = ReluOfInteger},
       .flops = 5},
      {.name = "Dropout",
       .pointwise = {.macro = "TIM_SCALE",
                     .header = kSimple,
                     .unary = [](float x, Parameters p) { return x * p.a; },
                     .parameters =
                         [](const AttributeMap& attributes) {
                           return Parameters{attributes.Float("ratio"), 0};
                         }},
       .attributes = {FloatAttribute("ratio")},
       .surplus_inputs = 2},
      {.name = "Sign",
       .pointwise = {.macro = "TIM_SIGN",
                     .header = kSimple,
                     .unary =
                         [](float x, Parameters) {
                           return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
                         },
                     .unary_integer = SignOfInteger},
       .flops = 2},
      {.name = "SoftSign",
       .pointwise = {.macro = "TIM_SOFT_SIGN",
                     .header = kSmooth,
                     .unary = [](float x, Parameters) { return SoftSign(x); }},
       .flops = 42},  // kernels/exact_quotient.clh
  };
}

// Of e^x; estimates count kernels/exact_*.clh.
std::vector<UnaryOp> SmoothOnes() {
  const auto alpha = [](const AttributeMap& attributes) {
    return Parameters{attributes.Float("alpha"), 0};
  };
  return {
      {.name = "Tanh",
       .pointwise = {.macro = "TIM_TANH",
                     .header = kSmooth,
                     .unary = [](float x,
                                 Parameters) { return kernels::Tanh(x); }},
       .flops = 40},
      {.name = "Sigmoid",
       .pointwise = {.macro = "TIM_SIGMOID",
                     .header = kSmooth,
                     .unary = [](float x,
                                 Parameters) { return kernels::Sigmoid(x); }},
       .flops = 40},
      {.name = "Swish",
       .pointwise = {.macro = "TIM_SWISH",
                     .header = kSmooth,
                     .unary = [](float x,
                                 Parameters) { return kernels::Swish(x); }},
       .flops = 60},
      {.name = "Mish",
       .pointwise = {.macro = "TIM_MISH",
                     .header = kSmooth,
                     .unary = [](float x,
                                 Parameters) { return kernels::Mish(x); }},
       .flops = 80},
      {.name = "SoftRelu",
       .pointwise = {.macro = "TIM_SOFT_RELU",
                     .header = "kernels/formulas/exact_log.clh",
                     .unary = [](float x,
                                 Parameters) { return kernels::Softplus(x); }},
       .flops = 60},
      {.name = "Elu",
       .pointwise = {.macro = "TIM_ELU",
                     .header = kSmooth,
                     .unary =
                         [](float x, Parameters p) {
                           return x >= 0.0f ? x : kernels::Expm1(x) * p.a;
                         },
                     .parameters = alpha},
       .flops = 30,
       .attributes = {FloatAttribute("alpha", 1)}},
      {.name = "Selu",
       .pointwise = {
           .macro = "TIM_SELU",
           .header = kSmooth,
           .unary =
               [](float x, Parameters p) {
                 return x >= 0.0f ? x * p.b : kernels::Expm1(x) * p.a;
               },
           .parameters =
               [](const AttributeMap& attributes) {
                 const float gamma = attributes.Float("gamma");
                 return Parameters{gamma * attributes.Float("alpha"), gamma};
               }},
       .flops = 30,
       .attributes = {FloatAttribute("alpha", 1.67326),
                      FloatAttribute("gamma", 1.0507)}},
      {.name = "Celu",
       .pointwise = {.macro = "TIM_CELU",
                     .header = kSmooth,
                     .unary =
                         [](float x, Parameters p) {
                           return x >= 0.0f ? x : kernels::Expm1(x / p.a) * p.a;
                         },
                     .parameters = alpha},
       .flops = 70,
       .attributes = {FloatAttribute("alpha")}},
      {.name = "Gelu",
       .pointwise = {.macro = "TIM_GELU",
                     .header = "kernels/formulas/exact_erf.clh",
                     .unary =
                         [](float x, Parameters p) {
                           return p.a != 0.0f ? kernels::GeluTanh(x)
                                              : kernels::GeluErf(x);
                         },
                     .parameters =
                         [](const AttributeMap& attributes) {
                           const bool tanh = attributes.Bool("approximate");
                           return Parameters{tanh ? 1.0f : 0.0f, 0};
                         }},
       .flops = 100,
       .attributes = {{.name = "approximate",
                       .type = ir::AttributeType::kBool,
                       .default_value = true}}},
  };
}

}  // namespace

TIM_OPERATOR(activations) {
  for (const auto& family : {Clamps(), Lines(), SmoothOnes()}) {
    for (const UnaryOp& op : family) AddUnary(op, registry);
  }
}

}  // namespace tim::ops
