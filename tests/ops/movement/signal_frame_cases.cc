#include <algorithm>

#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/signal_frame.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

ir::AttributeMap AttributesOf(int64_t window, int64_t step, int64_t pad_end,
                              int64_t axis) {
  return {{"window_length", window},
          {"step", step},
          {"pad_end", pad_end},
          {"axis", axis}};
}

NodeCase Legal(CaseRng& rng) {
  const Ints shape = rng.Shape(1, 4, 4000);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = rng.Axis(static_cast<int>(rank));
  const int64_t at = axis < 0 ? axis + rank : axis;
  const int64_t pad_end = rng.Int(0, 1);
  const int64_t window =
      rng.Int(1, std::min<int64_t>(shape[at] + 3 * pad_end, 9));
  const int64_t step = rng.Int(1, 5);
  // Windows begin at 0, step, ... as long as they, or their first elements,
  // are inside.
  int64_t frames = 0;
  for (int64_t i = 0; i + (pad_end != 0 ? 1 : window) <= shape[at]; i += step) {
    ++frames;
  }
  Ints output = shape;
  output[at] = window;
  output.insert(output.begin() + at + 1, frames);
  return MovedNode("tim.SignalFrame", AttributesOf(window, step, pad_end, axis),
                   shape, output, rng);
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](int64_t window, int64_t step, int64_t axis) {
    return MovedFloats("tim.SignalFrame", AttributesOf(window, step, 0, axis),
                       {4, 3}, {2, 3, 3});
  };
  std::vector<IllegalCase> out = IllegalOperands(node(2, 1, 0));
  out.push_back({node(0, 1, 0), "attribute 'window_length' is 0"});
  out.push_back({node(2, 0, 0), "attribute 'step' is 0"});
  out.push_back({node(5, 1, 0), "longer than the extent 4"});
  out.push_back({node(2, 1, 2), "axis 2 is outside"});
  return out;
}

}  // namespace

TIM_CASES(signal_frame) {
  using vx::ops::SignalFrame;
  cases.Add({.op = "tim.SignalFrame",
             .legal = Legal,
             .illegal = Illegal,
             .flops = FlopsPerMoved,
             .shells = {ShellOf<SignalFrame>(AttributesOf(4, 2, 0, 0), 4, 2),
                        ShellOf<SignalFrame>(AttributesOf(4, 2, 1, 0), 4, 2, 1),
                        ShellOf<SignalFrame>(AttributesOf(4, 2, 0, 1), 4u, 2u,
                                             0u, 1u)}});
}

}  // namespace tim::testing
