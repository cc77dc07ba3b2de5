// Add, Sub, Multiply, Div, Minimum, Maximum: operators of two inputs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_registry.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

int64_t AddIntegers(int64_t a, int64_t b, bool wrap) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) || wrap) return sum;
  return a < 0 ? kLeast : kGreatest;
}

int64_t SubtractIntegers(int64_t a, int64_t b, bool wrap) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference) || wrap) return difference;
  return a < 0 ? kLeast : kGreatest;
}

int64_t MultiplyIntegers(int64_t a, int64_t b, bool wrap) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) || wrap) return product;
  return (a < 0) != (b < 0) ? kLeast : kGreatest;
}

// Towards zero.  x / 0 is the limit on x's side, as infinity saturates; 0 / 0
// is 0, as NaN is.
int64_t DivideIntegers(int64_t a, int64_t b, bool wrap) {
  if (b == 0) return a < 0 ? kLeast : a > 0 ? kGreatest : 0;
  if (b == -1) return SubtractIntegers(0, a, wrap);
  return a / b;
}

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
      "TIM_ADD", [](float a, float b) { return a + b; }, AddIntegers);
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
           "TIM_SUB", [](float a, float b) { return a - b; }, SubtractIntegers),
       .affine_of = [](const ir::AttributeMap&, int variable,
                       float c) -> AffineTerm {
         if (variable == 0) return {1, -c};
         return {-1, c};
       }},
      {.name = "Multiply",
       .pointwise = Formula(
           "TIM_MULTIPLY", [](float a, float b) { return a * b; },
           MultiplyIntegers),
       .flops = 2,
       .attributes = {Scale()},
       .affine_of = [](const ir::AttributeMap& attributes, int,
                       float c) -> AffineTerm {
         return {c * attributes.Float(kBinaryScale), 0};
       }},
      {.name = "Div",
       .pointwise = Formula(
           "TIM_DIV", [](float a, float b) { return a / b; }, DivideIntegers),
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
  };
}

}  // namespace

TIM_OPERATOR(elementwise) {
  for (const BinaryOp& op : BinaryOps()) AddBinary(op, registry);
}

}  // namespace tim::ops
