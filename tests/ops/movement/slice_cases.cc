#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/slice.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

NodeCase Legal(CaseRng& rng) {
  const Ints shape = rng.Shape(1, 5);
  const bool strided = rng.OneIn(2);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axes = rng.OneIn(5) ? rng.Int(1, rank) : rank;
  Ints start;
  Ints length;
  Ints step;
  Ints output = shape;
  for (int64_t axis = 0; axis < axes; ++axis) {
    start.push_back(rng.Int(0, shape[axis] - 1));
    length.push_back(shape[axis] - start[axis] -
                     rng.Int(0, shape[axis] - start[axis] - 1));
    step.push_back(rng.Int(1, 3));
    // Elements at 0, step, 2 * step, ... before the length.
    output[axis] = 0;
    for (int64_t i = 0; i < length[axis]; i += strided ? step[axis] : 1) {
      ++output[axis];
    }
  }
  ir::AttributeMap attributes = {
      {"dims", axes == rank && rng.OneIn(3) ? int64_t{0} : axes},
      {"start", start},
      {"length", length}};
  if (strided) attributes.Set("step", step);
  return MovedNode("tim.Slice", std::move(attributes), shape, output, rng);
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](int64_t dims, Ints start, Ints length, Ints step) {
    return MovedFloats("tim.Slice",
                       {{"dims", dims},
                        {"start", std::move(start)},
                        {"length", std::move(length)},
                        {"step", std::move(step)}},
                       {4, 3}, {2, 2});
  };
  std::vector<IllegalCase> out = IllegalOperands(node(2, {0, 0}, {2, 2}, {}));
  out.push_back({node(2, {-1, 0}, {2, 2}, {}), "reach outside"});
  out.push_back({node(2, {0, 2}, {2, 2}, {}), "reach outside"});
  out.push_back({node(2, {0, 0}, {2, -1}, {}), "attribute 'length' is -1"});
  out.push_back({node(2, {0, 0}, {2, 2}, {1, 0}), "attribute 'step' is 0"});
  out.push_back({node(2, {0}, {2, 2}, {}), "attribute 'start' has 1 values"});
  out.push_back({node(0, {0, 0}, {2}, {}), "attribute 'length' has 1 values"});
  out.push_back({node(3, {0, 0, 0}, {2, 2, 1}, {}), "attribute 'dims' is 3"});
  return out;
}

}  // namespace

TIM_CASES(slice) {
  using vx::ops::Slice;
  const std::vector<int32_t> start = {0, 1}, length = {2, 2}, step = {1, 2};
  cases.Add({.op = "tim.Slice",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerMoved,
             .shells = {ShellOf<Slice>({{"dims", int64_t{2}},
                                        {"start", Ints{0, 1}},
                                        {"length", Ints{2, 2}}},
                                       2, start, length),
                        ShellOf<Slice>({{"dims", int64_t{0}},
                                        {"start", Ints{0, 1}},
                                        {"length", Ints{2, 2}},
                                        {"step", Ints{1, 2}}},
                                       0u, start, length, step)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
