#include "tests/properties/families/conv_axis.h"
#include "tests/properties/sum_cases.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tim/vx/ops/conv3d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

struct Channels {
  int64_t input = 1;
  int64_t output = 1;
  Ints kernel;  ///< Dims 3 and 4.
  int64_t multiplier = 0;
  int weights_axis = 4;
};

Channels RandomChannels(CaseRng& rng) {
  Channels out{.input = rng.Extent(17), .output = rng.Extent(), .kernel = {}};
  if (rng.OneIn(4)) {  // depthwise
    out.multiplier = rng.Int(1, 2);
    out.output = out.input * out.multiplier;
    const bool last = out.output > 1 && rng.OneIn(2);
    out.kernel = last ? Ints{1, out.output} : Ints{out.output, 1};
    out.weights_axis = last ? 4 : 3;
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
  const Channels c = RandomChannels(rng);
  const int64_t batch = rng.Int(1, 2);
  Ints input, kernel, output, stride, dilation, pad;
  int64_t terms = c.multiplier > 0 ? 1 : c.kernel[0];
  const bool declared = rng.OneIn(4);
  for (int i = 0; i < 3; ++i) {
    ConvCaseAxis axis = RandomConvAxis(rng);
    axis.input = std::min<int64_t>(axis.input, 12);
    axis.kernel = std::min<int64_t>(
        axis.kernel,
        (axis.input - 1) / std::max<int64_t>(axis.dilation, 1) + 1);
    input.push_back(axis.input);
    kernel.push_back(axis.kernel);
    output.push_back(declared ? rng.Int(1, 9) : axis.Output(padding));
    stride.push_back(axis.stride);
    dilation.push_back(axis.dilation);
    pad.insert(pad.end(), {axis.front, axis.back});
    terms *= axis.kernel;
  }
  input.insert(input.end(), {c.input, batch});
  kernel.insert(kernel.end(), c.kernel.begin(), c.kernel.end());
  output.insert(output.end(), {c.output, batch});
  NodeCase out = SumCase({.op = "tim.Conv3d",
                          .attributes = Conv2dAttributes(
                              padding, pad, stride, dilation, c.multiplier),
                          .sizes = {.input = input,
                                    .weights = kernel,
                                    .weights_axis = c.weights_axis,
                                    .channels = c.output,
                                    .terms = terms},
                          .output = output},
                         rng.OneIn(2), rng);
  out.declared = {declared};
  return out;
}

double Flops(const NodeCase& node) {
  const ir::Shape& kernel = node.inputs[1]->shape;
  const ir::Attribute* multiplier = node.attributes.Find("multiplier");
  const bool depthwise = std::get<int64_t>(*multiplier) > 0;
  return SumFlops(node, kernel.Product(0, depthwise ? 3 : 4));
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Ints input, Ints kernel, ir::AttributeMap attributes) {
    return NodeCase{.op = "tim.Conv3d",
                    .attributes = std::move(attributes),
                    .inputs = {F32(std::move(input)), F32(std::move(kernel))},
                    .outputs = {F32({1, 1, 1, 1, 1})}};
  };
  const Ints input = {4, 4, 3, 6, 1};
  const Ints kernel = {3, 3, 2, 6, 2};
  NodeCase biased = node(input, kernel, {});
  biased.inputs.push_back(F32({3}));
  return {
      {node({4, 4, 6, 1}, kernel, {}), "has rank 4, expected 5"},
      {node(input, {3, 3, 6, 2}, {}), "has rank 4, expected 5"},
      {node(input, {3, 3, 4, 6, 2}, {}), "along D the kernel (4)"},
      {node(input, {3, 3, 2, 4, 2}, {}), "which does not divide"},
      {node(input, {3, 3, 2, 2, 2}, {}), "not a multiple of the 3 groups"},
      {node(input, kernel, {{"multiplier", int64_t{2}}}), "depthwise kernel"},
      {node(input, kernel, {{"stride", Ints{1, 1, 0}}}), "along D: stride is"},
      {node(input, kernel, {{"stride", Ints{-1, 1, 1}}}), "stride is -1"},
      {node(input, kernel, {{"dilation", Ints{1, -1, 1}}}), "dilation is -1"},
      {node(input, kernel, {{"dilation", Ints{1, 1}}}), "expected 3"},
      {node(input, kernel, {{"pad", Ints{1, 1, 1, 1}}}), "expected 6"},
      {node(input, kernel, {{"pad", Ints{0, 0, 0, 0, 0, -1}}}),
       "expected >= 0"},
      {node(input, kernel, {{"padding", int64_t{9}}}), "padding"},
      {biased, "has 3 elements, expected 2"},
  };
}

std::vector<Shell> Shells() {
  using Array3 = std::array<int32_t, 3>;
  using Array6 = std::array<int32_t, 6>;
  using vx::DataLayout;
  using vx::PadType;
  using vx::ops::Conv3d;
  const Array3 stride = {1, 2, 3}, dilation = {4, 5, 6}, ksize = {7, 8, 9};
  const Array6 pad = {1, 2, 3, 4, 5, 6};
  const ir::AttributeMap window = {{"stride", Ints{1, 2, 3}},
                                   {"dilation", Ints{4, 5, 6}}};
  const auto with = [&](const ir::AttributeMap& more) {
    ir::AttributeMap all = window;
    for (const auto& [name, value] : more.entries()) all.Set(name, value);
    return all;
  };
  return {
      ShellOf<Conv3d>(
          with({{"padding", int64_t{2}}, {"multiplier", int64_t{7}}}),
          PadType::SAME, stride, dilation, 7),
      ShellOf<Conv3d>(with({{"pad", Ints{1, 2, 3, 4, 5, 6}},
                            {"input_layout", int64_t{11}},
                            {"kernel_layout", int64_t{12}}}),
                      pad, stride, dilation, 0, DataLayout::CWHDN,
                      DataLayout::OcIcWHD),
      ShellOf<Conv3d>(with({{"weights", int64_t{9}},
                            {"padding", int64_t{-1}},
                            {"ksize", Ints{7, 8, 9}}}),
                      9, PadType::NONE, ksize, stride, dilation),
      ShellOf<Conv3d>(with({{"weights", int64_t{9}},
                            {"ksize", Ints{7, 8, 9}},
                            {"pad", Ints{1, 2, 3, 4, 5, 6}},
                            {"multiplier", int64_t{2}}}),
                      9, PadType::AUTO, ksize, stride, dilation, pad, 2),
  };
}

}  // namespace

TIM_CASES(conv3d) {
  cases.Add({.op = "tim.Conv3d",
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = kSumTolerance,
             .flops = Flops,
             .shells = Shells(),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
