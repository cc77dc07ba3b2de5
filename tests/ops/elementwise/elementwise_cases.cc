#include <limits>

#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;

// With the attribute `scale`, and what it must not be.
OperatorCases Scaled(OperatorCases cases) {
  cases.legal = [legal = cases.legal](CaseRng& rng) {
    NodeCase node = legal(rng);
    if (rng.OneIn(3)) node.attributes.Set("scale", 0.375);
    return node;
  };
  cases.illegal = [illegal = cases.illegal, legal = cases.legal] {
    auto out = illegal();
    CaseRng plain(0, 0);
    out.push_back({legal(plain), "scale is inf"});
    out.back().node.attributes.Set("scale",
                                   std::numeric_limits<double>::infinity());
    return out;
  };
  return cases;
}

// A division is made of many operations, roughly counted.
OperatorCases Rough(OperatorCases cases) {
  cases.flops_factor = 2;
  return cases;
}

// Results that leave the range of codes, or lie between two of them, by each
// policy.
OperatorCases WithPolicies(OperatorCases cases) {
  cases.legal = [legal = cases.legal](CaseRng& rng) {
    NodeCase node = legal(rng);
    if (!rng.OneIn(5)) return node;
    node.attributes.Set("overflow_policy", rng.Int(0, 1));
    node.attributes.Set("rounding_policy", rng.Int(0, 1));
    return node;
  };
  return cases;
}

// Both inputs quantized alike, whose quotients are then those of codes.
OperatorCases SometimesOfOneScale(OperatorCases cases) {
  cases.legal = [legal = cases.legal](CaseRng& rng) {
    NodeCase node = legal(rng);
    if (node.inputs[0]->type == node.inputs[1]->type && rng.OneIn(2) &&
        !node.inputs[0]->quantization.per_channel()) {
      node.inputs[1]->quantization = node.inputs[0]->quantization;
    }
    return node;
  };
  return cases;
}

}  // namespace

TIM_CASES(elementwise) {
  cases.Add(WithPolicies(BinaryCases("tim.Add", 1, {ShellOf<ops::Add>({})})));
  cases.Add(WithPolicies(BinaryCases("tim.Sub", 1, {ShellOf<ops::Sub>({})})));
  cases.Add(Scaled(WithPolicies(
      BinaryCases("tim.Multiply", 2,
                  {ShellOf<ops::Multiply>({{"scale", 1.0}}),
                   ShellOf<ops::Multiply>({{"scale", 0.25}}, 0.25f)}))));
  cases.Add(Rough(Scaled(WithPolicies(BinaryCases(
      "tim.Div", 30,
      {ShellOf<ops::Div>({}), ShellOf<ops::Div>({{"scale", 3.0}}, 3.0f)})))));
  cases.Add(Rough(SometimesOfOneScale(WithPolicies(
      BinaryCases("tim.FloorDiv", 30, {ShellOf<ops::FloorDiv>({})})))));
  cases.Add(
      Rough(WithPolicies(BinaryCases("tim.Pow", 90, {ShellOf<ops::Pow>({})}))));
  cases.Add(BinaryCases("tim.Minimum", 1, {ShellOf<ops::Minimum>({})}));
  cases.Add(BinaryCases("tim.Maximum", 1, {ShellOf<ops::Maximum>({})}));
}

}  // namespace tim::testing
