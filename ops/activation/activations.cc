// Relu, Relu1, Relu6, Tanh, Sigmoid, HardSwish: activations of one input.
#include "ir/op_registry.h"
#include "kernels/exact_exp.h"
#include "ops/elements/unary.h"

namespace tim::ops {
namespace {

using ir::Limits;
using Parameters = ir::PointwiseParameters;

constexpr char kSimple[] = "kernels/simple_functions.clh";
constexpr char kSmooth[] = "kernels/activations.clh";
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// NaN stays NaN.
template <typename T>
T Clamp(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}

float HardSwish(float x) {
  if (x <= -3) return 0;
  if (x >= 3) return x;
  return x * ((x + 3) * 0x1.555556p-3f);  // 1 / 6
}

std::vector<UnaryOp> Activations() {
  return {
      {.name = "Relu",
       .pointwise = {
           .macro = "TIM_RELU",
           .header = kSimple,
           .unary = [](float x, Parameters) { return x < 0 ? 0.0f : x; },
           .unary_integer = [](int64_t x, Parameters) { return x < 0 ? 0 : x; },
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
      {.name = "Tanh",
       .pointwise = {.macro = "TIM_TANH",
                     .header = kSmooth,
                     .unary = [](float x,
                                 Parameters) { return kernels::Tanh(x); }},
       .flops = 40},  // kernels/exact_exp.clh
      {.name = "Sigmoid",
       .pointwise = {.macro = "TIM_SIGMOID",
                     .header = kSmooth,
                     .unary = [](float x,
                                 Parameters) { return kernels::Sigmoid(x); }},
       .flops = 40},
      {.name = "HardSwish",
       .pointwise = {.macro = "TIM_HARD_SWISH",
                     .header = kSimple,
                     .unary = [](float x, Parameters) { return HardSwish(x); },
                     // What the results of integers round to.
                     .unary_integer = [](int64_t x,
                                         Parameters) { return x < 0 ? 0 : x; }},
       .flops = 5},
  };
}

}  // namespace

TIM_OPERATOR(activations) {
  for (const UnaryOp& op : Activations()) AddUnary(op, registry);
}

}  // namespace tim::ops
