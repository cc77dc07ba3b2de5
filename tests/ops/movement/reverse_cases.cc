#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/reverse.h"
#include "tim/vx/ops/shuffle_channel.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

NodeCase LegalReverse(CaseRng& rng) {
  const Ints shape = rng.Shape(1, 5);
  const auto rank = static_cast<int>(shape.size());
  Ints axes;
  for (int64_t i = rng.Int(1, rank + 1); i > 0; --i) {
    axes.push_back(rng.Axis(rank));
  }
  return MovedNode("tim.Reverse", {{"axis", axes}}, shape, shape, rng);
}

std::vector<IllegalCase> IllegalReverses() {
  const auto node = [](Ints axes) {
    return MovedFloats("tim.Reverse", {{"axis", std::move(axes)}}, {4, 3},
                       {4, 3});
  };
  std::vector<IllegalCase> out = IllegalOperands(node({0}));
  out.push_back({node({2}), "axis 2 is outside"});
  out.push_back({node({0, -3}), "axis -3 is outside"});
  return out;
}

NodeCase LegalShuffle(CaseRng& rng) {
  Ints shape = rng.Shape(1, 5, 3000);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = rng.Axis(static_cast<int>(rank));
  const int64_t groups = rng.Pick(Ints{2, 1, 3, 4, 5});
  shape[axis < 0 ? axis + rank : axis] *= groups;
  return MovedNode("tim.ShuffleChannel",
                   {{"num_groups", groups}, {"index_axis", axis}}, shape, shape,
                   rng);
}

std::vector<IllegalCase> IllegalShuffles() {
  const auto node = [](int64_t groups, int64_t axis) {
    return MovedFloats("tim.ShuffleChannel",
                       {{"num_groups", groups}, {"index_axis", axis}}, {4, 3},
                       {4, 3});
  };
  std::vector<IllegalCase> out = IllegalOperands(node(2, 0));
  out.push_back({node(0, 0), "attribute 'num_groups' is 0"});
  out.push_back({node(2, 1), "does not divide the extent 3"});
  out.push_back({node(2, 2), "axis 2 is outside"});
  return out;
}

}  // namespace

TIM_CASES(reverse) {
  using vx::ops::Reverse;
  using vx::ops::ShuffleChannel;
  cases.Add({.op = "tim.Reverse",
             .legal = LegalReverse,
             .illegal = IllegalReverses,
             .flops = FlopsPerMoved,
             .shells = {ShellOf<Reverse>({{"axis", Ints{0, -1}}},
                                         std::vector<int32_t>{0, -1})},
             .permute_rule = PermuteRule::kRequired});
  cases.Add(
      {.op = "tim.ShuffleChannel",
       .legal = LegalShuffle,
       .illegal = IllegalShuffles,
       .flops = FlopsPerMoved,
       .shells = {ShellOf<ShuffleChannel>(
           {{"num_groups", int64_t{2}}, {"index_axis", int64_t{-1}}}, 2, -1)},
       .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
