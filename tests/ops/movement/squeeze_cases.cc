#include <algorithm>

#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/squeeze.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

NodeCase Legal(CaseRng& rng) {
  Ints output = rng.Shape(1, 5);
  Ints shape = output;
  Ints axes;
  const bool listed = rng.OneIn(2);
  if (!listed) std::erase(output, 1);
  for (int64_t count = rng.Int(listed ? 1 : 0, 3); count > 0; --count) {
    const int64_t at = rng.Int(0, static_cast<int64_t>(shape.size()));
    shape.insert(shape.begin() + at, 1);
    for (int64_t& axis : axes) axis += axis >= at ? 1 : 0;
    axes.push_back(at);
  }
  if (listed && rng.OneIn(3)) axes.push_back(axes[0]);
  if (listed && rng.OneIn(4)) axes[0] -= static_cast<int64_t>(shape.size());
  if (output.empty()) output.push_back(1);
  return MovedNode("tim.Squeeze", {{"axis", listed ? axes : Ints()}}, shape,
                   output, rng);
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Ints axes) {
    return MovedFloats("tim.Squeeze", {{"axis", std::move(axes)}}, {4, 1, 3},
                       {4, 3});
  };
  std::vector<IllegalCase> out = IllegalOperands(node({1}));
  out.push_back({node({0}), "axis 0 has an extent of 4"});
  out.push_back({node({1, 3}), "axis 3 is outside"});
  return out;
}

}  // namespace

TIM_CASES(squeeze) {
  cases.Add({.op = "tim.Squeeze",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerMoved,
             .shells = {ShellOf<vx::ops::Squeeze>(
                 {{"axis", Ints{0, 2}}}, std::vector<uint32_t>{0, 2})}});
}

}  // namespace tim::testing
