#include "tests/properties/families/conv_axis.h"
#include "tests/properties/sum_cases.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tim/vx/ops/conv2d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

struct Channels {
  int64_t input = 1;
  int64_t output = 1;
  Ints kernel;  ///< Dims 2 and 3.
  int64_t multiplier = 0;
  int weights_axis = 3;
};

Channels RandomChannels(CaseRng& rng) {
  Channels out{.input = rng.Extent(), .output = rng.Extent(), .kernel = {}};
  if (rng.OneIn(4)) {  // depthwise
    out.multiplier = rng.Int(1, 2);
    out.output = out.input * out.multiplier;
    const bool last = out.output > 1 && rng.OneIn(2);
    out.kernel = last ? Ints{1, out.output} : Ints{out.output, 1};
    out.weights_axis = last ? 3 : 2;
    return out;
  }
  int64_t groups = 1;
  if (rng.OneIn(4)) {
    groups = rng.Int(1, 4);
    out.input = groups * rng.Int(1, 4);
    out.output = groups * rng.Int(1, 5);
  }
  out.kernel = {out.input / groups, out.output};
  return out;
}

NodeCase Legal(CaseRng& rng) {
  const int64_t padding = rng.Pick<int64_t>({kAuto, kSame, kValid, -1});
  const ConvCaseAxis w = RandomConvAxis(rng);
  const ConvCaseAxis h = RandomConvAxis(rng);
  const Channels c = RandomChannels(rng);
  const int64_t batch = rng.Int(1, 2);
  const int64_t terms =
      w.kernel * h.kernel * (c.multiplier > 0 ? 1 : c.kernel[0]);
  return SumCase(
      {.op = "tim.Conv2d",
       .attributes = Conv2dAttributes(
           padding, {w.front, w.back, h.front, h.back}, {w.stride, h.stride},
           {w.dilation, h.dilation}, c.multiplier),
       .sizes = {.input = {w.input, h.input, c.input, batch},
                 .weights = {w.kernel, h.kernel, c.kernel[0], c.kernel[1]},
                 .weights_axis = c.weights_axis,
                 .channels = c.output,
                 .terms = terms},
       .output = {w.Output(padding), h.Output(padding), c.output, batch}},
      rng.OneIn(2), rng);
}

double Flops(const NodeCase& node) {
  const ir::Shape& kernel = node.inputs[1]->shape;
  const ir::Attribute* multiplier = node.attributes.Find("multiplier");
  const bool depthwise = std::get<int64_t>(*multiplier) > 0;
  return SumFlops(node, kernel[0] * kernel[1] * (depthwise ? 1 : kernel[2]));
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Ints input, Ints kernel, ir::AttributeMap attributes) {
    return NodeCase{.op = "tim.Conv2d",
                    .attributes = std::move(attributes),
                    .inputs = {F32(std::move(input)), F32(std::move(kernel))},
                    .outputs = {F32({1, 1, 1, 1})}};
  };
  const Ints input = {4, 4, 6, 1};
  const Ints kernel = {3, 3, 6, 2};
  NodeCase biased = node(input, kernel, {});
  biased.inputs.push_back(F32({3}));
  return {
      {node({4, 4, 6}, kernel, {}), "has rank 3, expected 4"},
      {node(input, {3, 3, 6}, {}), "has rank 3, expected 4"},
      {node(input, {5, 5, 6, 2}, {}), "does not fit the input"},
      {node(input, {3, 3, 4, 2}, {}), "which does not divide"},
      {node(input, {3, 3, 2, 2}, {}), "not a multiple of the 3 groups"},
      {node(input, kernel, {{"multiplier", int64_t{2}}}), "depthwise kernel"},
      {node(input, kernel, {{"stride", Ints{0, 1}}}), "stride is 0"},
      {node(input, kernel, {{"pad", Ints{1, 1}}}), "expected 4"},
      {node(input, kernel, {{"pad", Ints{-1, 0, 0, 0}}}), "expected >= 0"},
      {node(input, kernel, {{"padding", int64_t{9}}}), "padding"},
      {biased, "has 3 elements, expected 2"},
  };
}

std::vector<Shell> Shells() {
  using Array2 = std::array<uint32_t, 2>;
  using Array4 = std::array<uint32_t, 4>;
  using vx::ops::Conv2d;
  const Array2 stride = {1, 2}, dilation = {3, 4}, ksize = {5, 6};
  const Array4 pad = {1, 2, 3, 4};
  const ir::AttributeMap window = {{"stride", Ints{1, 2}},
                                   {"dilation", Ints{3, 4}}};
  const auto with = [&](const ir::AttributeMap& more) {
    ir::AttributeMap all = window;
    for (const auto& [name, value] : more.entries()) all.Set(name, value);
    return all;
  };
  return {
      ShellOf<Conv2d>(
          with({{"padding", int64_t{2}}, {"multiplier", int64_t{7}}}),
          vx::PadType::SAME, stride, dilation, 7),
      ShellOf<Conv2d>(with({{"pad", Ints{1, 2, 3, 4}}}), pad, stride, dilation),
      ShellOf<Conv2d>(with({{"weights", int64_t{9}},
                            {"padding", int64_t{-1}},
                            {"ksize", Ints{5, 6}}}),
                      9, vx::PadType::NONE, ksize, stride, dilation),
      ShellOf<Conv2d>(with({{"weights", int64_t{9}},
                            {"ksize", Ints{5, 6}},
                            {"pad", Ints{1, 2, 3, 4}},
                            {"multiplier", int64_t{2}}}),
                      9, vx::PadType::AUTO, ksize, stride, dilation, pad, 2),
  };
}

}  // namespace

TIM_CASES(conv2d) {
  cases.Add({.op = "tim.Conv2d",
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = kSumTolerance,
             .flops = Flops,
             .shells = Shells(),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
