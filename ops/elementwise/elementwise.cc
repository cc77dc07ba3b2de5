// Operators of elementwise.h: two inputs, numbers.
#include <algorithm>
#include <cmath>

#include "ir/op_registry.h"
#include "kernels/formulas/exact_pow.h"
#include "kernels/integers.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {
namespace {

ir::AttributeSpec Scale() {
  return {.name = kBinaryScale,
          .type = ir::AttributeType::kFloat,
          .default_value = 1.0};
}

ir::Pointwise Formula(const char* macro, float (*real)(float, float),
                      int64_t (*integer)(int64_t, int64_t, bool)) {
  return {.arity = 2,
          .macro = macro,
          .header = "kernels/formulas/arithmetic.clh",
          .binary = real,
          .binary_integer = integer};
}

ir::Pointwise Sum() {
  ir::Pointwise sum = Formula(
      "TIM_ADD", [](float a, float b) { return a + b; }, kernels::AddIntegers);
  sum.is_sum = true;
  return sum;
}

// NaN in either operand is the result of Minimum and Maximum, as in ONNX.
std::vector<BinaryOp> BinaryOps() {
  return {
      {.name = "Add",
       .pointwise = Sum(),
       .affine_of = [](const ir::AttributeMap&, int, float c) -> AffineTerm {
         return {1, c};
       }},
      {.name = "Sub",
       .pointwise = Formula(
           "TIM_SUB", [](float a, float b) { return a - b; },
           kernels::SubtractIntegers),
       .affine_of = [](const ir::AttributeMap&, int variable,
                       float c) -> AffineTerm {
         if (variable == 0) return {1, -c};
         return {-1, c};
       }},
      {.name = "Multiply",
       .pointwise = Formula(
           "TIM_MULTIPLY", [](float a, float b) { return a * b; },
           kernels::MultiplyIntegers),
       .flops = 2,
       .attributes = {Scale()},
       .affine_of = [](const ir::AttributeMap& attributes, int,
                       float c) -> AffineTerm {
         return {c * attributes.Float(kBinaryScale), 0};
       }},
      {.name = "Div",
       .pointwise = Formula(
           "TIM_DIV", [](float a, float b) { return a / b; },
           kernels::DivideIntegers),
       .flops = 40,  // kernels/exact_quotient.clh
       .attributes = {Scale()}},
      {.name = "Minimum",
       .pointwise = Formula(
           "TIM_MINIMUM",
           [](float a, float b) { return a < b || std::isnan(a) ? a : b; },
           [](int64_t a, int64_t b, bool) { return std::min(a, b); })},
      {.name = "Maximum",
       .pointwise = Formula(
           "TIM_MAXIMUM",
           [](float a, float b) { return a > b || std::isnan(a) ? a : b; },
           [](int64_t a, int64_t b, bool) { return std::max(a, b); })},
      {.name = "FloorDiv",
       .pointwise = Formula(
           "TIM_FLOOR_DIV", [](float a, float b) { return std::floor(a / b); },
           kernels::FloorDivideIntegers),
       .flops = 41,
       .degree = 0},
      {.name = "Pow",
       .pointwise = {.arity = 2,
                     .macro = "TIM_POW",
                     .header = "kernels/formulas/exact_pow.clh",
                     .binary = [](float a,
                                  float b) { return kernels::Pow(a, b); },
                     .binary_integer = kernels::RaiseIntegers},
       .flops = 110},
  };
}

}  // namespace

TIM_OPERATOR(elementwise) {
  for (const BinaryOp& op : BinaryOps()) AddBinary(op, registry);
}

}  // namespace tim::ops
