// Relu, Relu1, Relu6, Tanh, Sigmoid, HardSwish: activations of one input.
#include "ir/op_registry.h"
#include "kernels/exact_exp.h"
#include "ops/elements/unary.h"

namespace tim::ops {
namespace {

constexpr char kSource[] = "ops/activation/activations.cl";

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
       .function = "RELU",
       .real = [](float x, UnaryParameters) { return x < 0 ? 0.0f : x; },
       .integer = [](int64_t x) { return x < 0 ? 0 : x; }},
      {.name = "Relu1",
       .function = "RELU1",
       .real = [](float x, UnaryParameters) { return Clamp(x, -1.0f, 1.0f); },
       .integer = [](int64_t x) { return Clamp<int64_t>(x, -1, 1); }},
      {.name = "Relu6",
       .function = "RELU6",
       .real = [](float x, UnaryParameters) { return Clamp(x, 0.0f, 6.0f); },
       .integer = [](int64_t x) { return Clamp<int64_t>(x, 0, 6); }},
      {.name = "Tanh",
       .function = "TANH",
       .flops = 40,  // kernels/exact_exp.clh
       .real = [](float x, UnaryParameters) { return kernels::Tanh(x); }},
      {.name = "Sigmoid",
       .function = "SIGMOID",
       .flops = 40,
       .real = [](float x, UnaryParameters) { return kernels::Sigmoid(x); }},
      {.name = "HardSwish",
       .function = "HARD_SWISH",
       .flops = 5,
       .real = [](float x, UnaryParameters) { return HardSwish(x); },
       // What the results of integers round to.
       .integer = [](int64_t x) { return x < 0 ? 0 : x; }},
  };
}

}  // namespace

TIM_OPERATOR(activations) {
  for (const UnaryOp& op : Activations()) {
    registry.Add(UnarySchema(op));
    registry.Add(UnaryTableKernel(op.name));
    registry.Add(UnaryKernel(op, kSource));
  }
}

}  // namespace tim::ops
