// Operators of simple_operations.h and erf.h that apply a function of one
// input.
#include <cmath>
#include <limits>

#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "kernels/exact_exp.h"
#include "kernels/formulas/exact_erf.h"
#include "kernels/formulas/exact_log.h"
#include "kernels/formulas/exact_trigonometry.h"
#include "ops/elements/operands.h"
#include "ops/elements/unary.h"

namespace tim::ops {
namespace {

using Parameters = ir::PointwiseParameters;

constexpr char kSimple[] = "kernels/formulas/simple_functions.clh";
constexpr char kExponential[] = "kernels/formulas/activations.clh";
constexpr char kLogarithm[] = "kernels/formulas/exact_log.clh";
constexpr char kRoot[] = "kernels/formulas/exact_root.clh";
constexpr char kErf[] = "kernels/formulas/exact_erf.clh";
constexpr char kTrigonometry[] = "kernels/formulas/exact_trigonometry.clh";
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

// Saturated.
int64_t Negative(int64_t x, Parameters) {
  return x == -kGreatest - 1 ? kGreatest : -x;
}
int64_t Absolute(int64_t x, Parameters p) { return x < 0 ? Negative(x, p) : x; }
int64_t SquareOf(int64_t x, Parameters) {
  constexpr int64_t kRootOfGreatest = 3037000499;
  return x > kRootOfGreatest || x < -kRootOfGreatest ? kGreatest : x * x;
}
int64_t Same(int64_t x, Parameters) { return x; }
int64_t IsZero(int64_t x, Parameters) { return x == 0 ? 1 : 0; }

Status CheckTruths(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckTruth(view, Operand::kInput, 0));
  return CheckTruth(view, Operand::kOutput, 0);
}

struct Function {
  const char* name;
  const char* macro;
  const char* header;
  double flops;  // Those of exact_*.clh: roughly.
  float (*real)(float x, Parameters);
  int64_t (*integer)(int64_t x, Parameters) = nullptr;
};

constexpr Function kFunctions[] = {
    {"Neg", "TIM_NEG", kSimple, 1, [](float x, Parameters) { return -x; },
     Negative},
    {"Abs", "TIM_ABS", kSimple, 1,
     [](float x, Parameters) { return std::fabs(x); }, Absolute},
    {"Square", "TIM_SQUARE", kSimple, 1,
     [](float x, Parameters) { return x * x; }, SquareOf},
    {"Floor", "TIM_FLOOR", kSimple, 1,
     [](float x, Parameters) { return std::floor(x); }, Same},
    {"Ceil", "TIM_CEIL", kSimple, 1,
     [](float x, Parameters) { return std::ceil(x); }, Same},
    {"Round", "TIM_NEAREST", kSimple, 1,
     [](float x, Parameters) { return std::nearbyintf(x); }, Same},
    {"Rcp", "TIM_RCP", kRoot, 40, [](float x, Parameters) { return 1.0f / x; }},
    {"Sqrt", "TIM_SQRT", kRoot, 30,
     [](float x, Parameters) { return std::sqrt(x); }},
    {"Rsqrt", "TIM_RSQRT", kRoot, 70,
     [](float x, Parameters) { return 1.0f / std::sqrt(x); }},
    {"Exp", "TIM_EXP", kExponential, 25,
     [](float x, Parameters) { return kernels::Exp(x); }},
    {"Log", "TIM_LOG", kLogarithm, 35,
     [](float x, Parameters) { return kernels::Log(x); }},
    {"ATanh", "TIM_ATANH", kLogarithm, 80,
     [](float x, Parameters) { return kernels::Atanh(x); }},
    {"ACosh", "TIM_ACOSH", kLogarithm, 100,
     [](float x, Parameters) { return kernels::Acosh(x); }},
    {"Erf", "TIM_ERF", kErf, 120,
     [](float x, Parameters) { return kernels::Erf(x); }},
    {"Sin", "TIM_SIN", kTrigonometry, 30,
     [](float x, Parameters) { return kernels::Sin(x); }},
    {"Cos", "TIM_COS", kTrigonometry, 30,
     [](float x, Parameters) { return kernels::Cos(x); }},
    {"Tan", "TIM_TAN", kTrigonometry, 70,
     [](float x, Parameters) { return kernels::Tan(x); }},
    {"ATan", "TIM_ATAN", kTrigonometry, 60,
     [](float x, Parameters) { return kernels::Atan(x); }},
};

UnaryOp RowOf(const Function& function) {
  return {.name = function.name,
          .pointwise = {.macro = function.macro,
                        .header = function.header,
                        .unary = function.real,
                        .unary_integer = function.integer},
          .flops = function.flops};
}

// Its operands are no numbers.
UnaryOp LogicalNot() {
  UnaryOp op =
      RowOf({"LogicalNot", "TIM_LOGICAL_NOT", kSimple, 1,
             [](float x, Parameters) { return x == 0 ? 1.0f : 0.0f; }, IsZero});
  op.check = CheckTruths;
  return op;
}

}  // namespace

TIM_OPERATOR(simple_operations) {
  for (const Function& function : kFunctions) {
    AddUnary(RowOf(function), registry);
  }
  AddUnary(LogicalNot(), registry);
}

}  // namespace tim::ops
