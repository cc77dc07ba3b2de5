#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/activations.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;

// Made of many operations, of which the estimate is rough.
OperatorCases Rough(OperatorCases cases, double factor) {
  cases.flops_factor = factor;
  return cases;
}

}  // namespace

TIM_CASES(activations) {
  cases.Add(UnaryCases("tim.Relu", 1, {ShellOf<ops::Relu>({})}));
  cases.Add(UnaryCases("tim.Relu1", 1, {ShellOf<ops::Relu1>({})}));
  cases.Add(UnaryCases("tim.Relu6", 1, {ShellOf<ops::Relu6>({})}));
  cases.Add(Rough(UnaryCases("tim.Tanh", 30, {ShellOf<ops::Tanh>({})}), 2));
  cases.Add(
      Rough(UnaryCases("tim.Sigmoid", 30, {ShellOf<ops::Sigmoid>({})}), 2));
  // Two comparisons, x + 3, a division and a product.
  cases.Add(UnaryCases("tim.HardSwish", 5, {ShellOf<ops::HardSwish>({})}));
}

}  // namespace tim::testing
