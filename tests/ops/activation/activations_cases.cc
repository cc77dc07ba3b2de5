#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/dropout.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Made of many operations, of which the estimate is rough.
OperatorCases Rough(OperatorCases cases, double factor) {
  cases.flops_factor = factor;
  return cases;
}

// Single precision is what the constructors hand over.
double Single(float value) { return value; }

}  // namespace

TIM_CASES(activations) {
  cases.Add(UnaryCases("tim.Relu", 1, {ShellOf<ops::Relu>({})}));
  cases.Add(UnaryCases("tim.Relu1", 1, {ShellOf<ops::Relu1>({})}));
  cases.Add(UnaryCases("tim.Relu6", 1, {ShellOf<ops::Relu6>({})}));
  cases.Add(UnaryCases(
      "tim.Clip", 1,
      {ShellOf<ops::Clip>({{"min", -1.0}, {"max", 2.5}}, -1.0f, 2.5f)},
      {{"min", {-0.5, -kInfinity, 0.0, 2.0}},
       {"max", {1.5, 6.0, kInfinity, 0.25}}}));
  cases.Add(UnaryCases("tim.LeakyRelu", 2,
                       {ShellOf<ops::LeakyRelu>({{"alpha", 0.5}}, 0.5f)},
                       {{"alpha", {0.25, 0.01, -1.5}}}));
  cases.Add(
      UnaryCases("tim.Linear", 2,
                 {ShellOf<ops::Linear>({{"a", 2.0}, {"b", -0.5}}, 2.0f, -0.5f),
                  ShellOf<ops::Linear>({{"a", 2.0}}, 2.0f)},
                 {{"a", {1.5, -0.3, 0.0}}, {"b", {0.25, 0.0, -7.1}}}));
  // A product and a sum, two comparisons.
  cases.Add(UnaryCases("tim.HardSigmoid", 4,
                       {ShellOf<ops::HardSigmoid>(
                           {{"alpha", 0.25}, {"beta", 0.5}}, 0.25f, 0.5f)},
                       {{"alpha", {0.2, 0.3}}, {"beta", {0.5, 0.6}}}));
  // Two comparisons, x + 3, a division and a product.
  cases.Add(UnaryCases("tim.HardSwish", 5, {ShellOf<ops::HardSwish>({})}));
  cases.Add(UnaryCases("tim.Dropout", 1,
                       {ShellOf<ops::Dropout>({{"ratio", 0.5}}, 0.5f)},
                       {{"ratio", {1.0, 0.3, -2.0}}}));
  cases.Add(UnaryCases("tim.Sign", 2, {ShellOf<ops::Sign>({})}));
  cases.Add(
      Rough(UnaryCases("tim.SoftSign", 42, {ShellOf<ops::SoftSign>({})}), 2));
}

// Made of e^x.
TIM_CASES(smooth_activations) {
  cases.Add(Rough(UnaryCases("tim.Tanh", 30, {ShellOf<ops::Tanh>({})}), 2));
  cases.Add(
      Rough(UnaryCases("tim.Sigmoid", 30, {ShellOf<ops::Sigmoid>({})}), 2));
  cases.Add(Rough(UnaryCases("tim.Swish", 60, {ShellOf<ops::Swish>({})}), 2));
  cases.Add(Rough(UnaryCases("tim.Mish", 80, {ShellOf<ops::Mish>({})}), 2));
  cases.Add(
      Rough(UnaryCases("tim.SoftRelu", 60, {ShellOf<ops::SoftRelu>({})}), 2));
  cases.Add(Rough(UnaryCases("tim.Elu", 30,
                             {ShellOf<ops::Elu>({{"alpha", 1.0}}),
                              ShellOf<ops::Elu>({{"alpha", 0.5}}, 0.5f)},
                             {{"alpha", {1.0, 0.5, 1.7}}}),
                  2));
  cases.Add(Rough(
      UnaryCases(
          "tim.Selu", 30,
          {ShellOf<ops::Selu>(
               {{"alpha", Single(1.67326f)}, {"gamma", Single(1.0507f)}}),
           ShellOf<ops::Selu>({{"alpha", 1.5}, {"gamma", Single(1.0507f)}},
                              1.5f),
           ShellOf<ops::Selu>({{"alpha", 1.5}, {"gamma", 2.0}}, 1.5f, 2.0f)},
          {{"alpha", {1.67326, 0.3}}, {"gamma", {1.0507, 2.1}}}),
      2));
  cases.Add(Rough(
      UnaryCases("tim.Celu", 70, {ShellOf<ops::Celu>({{"alpha", 0.5}}, 0.5f)},
                 {{"alpha", {1.0, 1.3, 0.2}}}),
      2));
  OperatorCases gelu =
      UnaryCases("tim.Gelu", 100,
                 {ShellOf<ops::Gelu>({{"approximate", true}}),
                  ShellOf<ops::Gelu>({{"approximate", true}}, true),
                  ShellOf<ops::Gelu>({{"approximate", false}}, false)});
  gelu.legal = [numbers = gelu.legal](CaseRng& rng) {
    NodeCase node = numbers(rng);
    node.attributes.Set("approximate", rng.OneIn(2));
    return node;
  };
  cases.Add(Rough(gelu, 2));
}

}  // namespace tim::testing
