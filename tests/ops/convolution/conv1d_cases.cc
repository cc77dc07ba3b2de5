#include "tests/properties/families/conv_axis.h"
#include "tests/properties/sum_cases.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tim/vx/ops/conv1d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

struct Channels {
  int64_t input = 1;
  int64_t output = 1;
  Ints kernel;  ///< Dims 1 and 2.
  int64_t multiplier = 0;
  int weights_axis = 2;
};

Channels RandomChannels(CaseRng& rng) {
  Channels out{.input = rng.Extent(), .output = rng.Extent(), .kernel = {}};
  if (rng.OneIn(3)) {  // depthwise
    out.multiplier = rng.Int(1, 2);
    out.output = out.input * out.multiplier;
    const bool last = rng.OneIn(2);
    out.kernel = last ? Ints{1, out.output} : Ints{out.output, 1};
    out.weights_axis = last ? 2 : 1;
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
  const Channels c = RandomChannels(rng);
  const int64_t batch = rng.Int(1, 2);
  return SumCase(
      {.op = "tim.Conv1d",
       .attributes = {{"padding", padding},
                      {"pad", Ints{w.front, w.back}},
                      {"stride", w.stride},
                      {"dilation", w.dilation},
                      {"multiplier", c.multiplier}},
       .sizes = {.input = {w.input, c.input, batch},
                 .weights = {w.kernel, c.kernel[0], c.kernel[1]},
                 .weights_axis = c.weights_axis,
                 .channels = c.output,
                 .terms = w.kernel * (c.multiplier > 0 ? 1 : c.kernel[0])},
       .output = {w.Output(padding), c.output, batch}},
      rng.OneIn(2), rng);
}

double Flops(const NodeCase& node) {
  const ir::Shape& kernel = node.inputs[1]->shape;
  const bool depthwise =
      std::get<int64_t>(*node.attributes.Find("multiplier")) > 0;
  return SumFlops(node, kernel[0] * (depthwise ? 1 : kernel[1]));
}

std::vector<IllegalCase> Illegal() {
  const auto node = [](Ints input, Ints kernel, ir::AttributeMap attributes) {
    return NodeCase{.op = "tim.Conv1d",
                    .attributes = std::move(attributes),
                    .inputs = {F32(std::move(input)), F32(std::move(kernel))},
                    .outputs = {F32({1, 1, 1})}};
  };
  const Ints input = {4, 6, 1};
  const Ints kernel = {3, 6, 2};
  NodeCase biased = node(input, kernel, {});
  biased.inputs.push_back(F32({3}));
  NodeCase first_axis = node(input, kernel, {});
  first_axis.inputs[1] = Desc(ir::DataType::kInt8, kernel);
  first_axis.inputs[1]->quantization = {
      .kind = ir::QuantizationKind::kPerChannel,
      .axis = 1,
      .scales = std::vector<float>(6, 0.5f),
      .zero_points = {0}};
  return {
      {node({4, 4, 6, 1}, kernel, {}), "has rank 4, expected 3"},
      {node(input, {3, 6}, {}), "input 1 [3, 6] has rank 2, expected 3"},
      {node(input, {5, 6, 2}, {}), "does not fit the input"},
      {node(input, {3, 4, 2}, {}), "which does not divide"},
      {node(input, {3, 2, 2}, {}), "not a multiple of the 3 groups"},
      {node(input, kernel, {{"multiplier", int64_t{2}}}),
       "must end in [12, 1]"},
      {node(input, kernel, {{"multiplier", int64_t{-1}}}), "multiplier is -1"},
      {node(input, kernel, {{"stride", int64_t{0}}}), "stride is 0"},
      {node(input, kernel, {{"dilation", int64_t{-1}}}), "dilation is -1"},
      {node(input, kernel, {{"pad", Ints{1, 1, 0, 0}}}), "expected 2"},
      {node(input, kernel, {{"pad", Ints{-1, 0}}}), "expected >= 0"},
      {node(input, kernel, {{"padding", int64_t{9}}}), "padding"},
      {biased, "has 3 elements, expected 2"},
      {first_axis, "along axis 1, expected axis 2"},
  };
}

std::vector<Shell> Shells() {
  using vx::DataLayout;
  using vx::PadType;
  using vx::ops::Conv1d;
  const std::array<uint32_t, 2> pad = {1, 2};
  const ir::AttributeMap window = {{"stride", int64_t{2}},
                                   {"dilation", int64_t{3}}};
  const auto with = [&](const ir::AttributeMap& more) {
    ir::AttributeMap all = window;
    for (const auto& [name, value] : more.entries()) all.Set(name, value);
    return all;
  };
  return {
      ShellOf<Conv1d>(with({{"padding", int64_t{2}}}), PadType::SAME, 2, 3),
      ShellOf<Conv1d>(with({{"padding", int64_t{1}},
                            {"multiplier", int64_t{7}},
                            {"input_layout", int64_t{1}},
                            {"kernel_layout", int64_t{3}}}),
                      PadType::VALID, 2, 3, 7, DataLayout::WHCN,
                      DataLayout::IcWHOc),
      ShellOf<Conv1d>(with({{"pad", Ints{1, 2}}, {"multiplier", int64_t{4}}}),
                      pad, 2, 3, 4),
      ShellOf<Conv1d>(with({{"weights", int64_t{9}},
                            {"padding", int64_t{-1}},
                            {"ksize", int64_t{5}}}),
                      9, PadType::NONE, 5, 2, 3),
      ShellOf<Conv1d>(with({{"weights", int64_t{9}},
                            {"ksize", int64_t{5}},
                            {"pad", Ints{1, 2}},
                            {"multiplier", int64_t{2}}}),
                      9, PadType::AUTO, 5, 2, 3, pad, 2),
  };
}

}  // namespace

TIM_CASES(conv1d) {
  cases.Add({.op = "tim.Conv1d",
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = kSumTolerance,
             .flops = Flops,
             .shells = Shells()});
}

}  // namespace tim::testing
