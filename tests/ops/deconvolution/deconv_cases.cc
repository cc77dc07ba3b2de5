// DeConv2d and DeConv1d.
#include "tests/properties/sum_cases.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tim/vx/ops/deconv.h"
#include "tim/vx/ops/deconv1d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// As the operator's page states them.
struct Axis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t front = 0;
  int64_t back = 0;
  int64_t output_padding = 0;

  int64_t Output() const {
    return (input - 1) * stride + kernel - front - back + output_padding;
  }
};

Axis RandomAxis(CaseRng& rng) {
  Axis axis = {.input = rng.Extent(17),
               .kernel = rng.Int(1, 5),
               .stride = rng.Int(1, 4)};
  axis.output_padding = rng.Int(0, 2);
  axis.front = std::min<int64_t>(rng.Int(-4, 4), axis.Output() - 1);
  axis.back = std::min<int64_t>(rng.Int(-4, 4), axis.Output() - 1);
  return axis;
}

struct Channels {
  int64_t input = 1;
  int64_t output = 1;
  int64_t group = 1;
  Ints kernel;  ///< The last two extents.
  bool last = true;
  int64_t terms = 1;
};

Channels RandomChannels(CaseRng& rng) {
  if (rng.OneIn(4)) {  // every channel a group
    const int64_t channels = rng.Int(2, 18);
    return {.input = channels,
            .output = channels,
            .group = channels,
            .kernel = {channels, 1},
            .last = false};
  }
  const int64_t group = rng.OneIn(3) ? rng.Int(1, 4) : 1;
  const int64_t in = group > 1 ? rng.Int(1, 4) : rng.Extent(18);
  const int64_t out = group > 1 ? rng.Int(1, 4) : rng.Extent();
  return {.input = group * in,
          .output = group * out,
          .group = group,
          .kernel = {in, group * out},
          .terms = in};
}

NodeCase Legal(const std::string& op, int axes, CaseRng& rng) {
  Ints input, kernel, output, stride, output_padding, pad;
  const Channels c = RandomChannels(rng);
  int64_t terms = c.terms;
  const bool declared = rng.OneIn(4);
  for (int i = 0; i < axes; ++i) {
    const Axis axis = RandomAxis(rng);
    input.push_back(axis.input);
    kernel.push_back(axis.kernel);
    output.push_back(declared ? rng.Extent() : axis.Output());
    stride.push_back(axis.stride);
    output_padding.push_back(axis.output_padding);
    pad.insert(pad.end(), {axis.front, axis.back});
    terms *= (axis.kernel + axis.stride - 1) / axis.stride;
  }
  const int64_t batch = rng.Int(1, 2);
  input.insert(input.end(), {c.input, batch});
  kernel.insert(kernel.end(), c.kernel.begin(), c.kernel.end());
  output.insert(output.end(), {c.output, batch});
  ir::AttributeMap attributes = {
      {"pad", pad},
      {"padding", rng.Pick<int64_t>({kAuto, kSame, kValid, -1})},
      {"group", c.group}};
  if (axes == 1) {
    attributes.Set("stride", stride[0]);
    attributes.Set("output_padding", output_padding[0]);
  } else {
    attributes.Set("stride", stride);
    attributes.Set("output_padding", output_padding);
  }
  NodeCase out = SumCase({.op = op,
                          .attributes = std::move(attributes),
                          .sizes = {.input = input,
                                    .weights = kernel,
                                    .weights_axis = c.last ? axes + 1 : axes,
                                    .channels = c.output,
                                    .terms = terms},
                          .output = output},
                         rng.OneIn(2), rng);
  out.declared = {declared};
  return out;
}

// Products of input and kernel elements that fall inside of the output.
double Flops(const NodeCase& node) {
  const ir::Shape& input = node.inputs[0]->shape;
  const ir::Shape& kernel = node.inputs[1]->shape;
  const ir::Shape& output = node.outputs[0].shape;
  const int axes = input.rank() - 2;
  const auto& pad = std::get<Ints>(*node.attributes.Find("pad"));
  const ir::Attribute& strides = *node.attributes.Find("stride");
  const auto group = std::get<int64_t>(*node.attributes.Find("group"));
  double products =
      static_cast<double>(input[axes] * output[axes] / group * input[axes + 1]);
  for (int i = 0; i < axes; ++i) {
    const int64_t stride =
        axes == 1 ? std::get<int64_t>(strides) : std::get<Ints>(strides)[i];
    double inside = 0;
    for (int64_t x = 0; x < input[i]; ++x) {
      for (int64_t k = 0; k < kernel[i]; ++k) {
        const int64_t to = x * stride - pad[2 * i] + k;
        if (to >= 0 && to < output[i]) ++inside;
      }
    }
    products *= inside;
  }
  return 2 * products;
}

// Nodes [4 (, 4), 6, 1] with kernels [3 (, 3), 3, 4] in two groups.
std::vector<IllegalCase> Illegal(const char* op, int axes) {
  const auto full = [&](int64_t extent, Ints last) {
    Ints out(axes, extent);
    out.insert(out.end(), last.begin(), last.end());
    return out;
  };
  const auto node = [&](Ints input, Ints kernel, int64_t group,
                        const ir::AttributeMap& more = {}) {
    ir::AttributeMap attributes = more;
    attributes.Set("group", group);
    return NodeCase{.op = op,
                    .attributes = std::move(attributes),
                    .inputs = {F32(std::move(input)), F32(std::move(kernel))},
                    .outputs = {F32(full(1, {1, 1}))}};
  };
  const auto each = [&](int64_t value) {
    return axes == 1 ? ir::Attribute(value) : ir::Attribute(Ints(axes, value));
  };
  const Ints input = full(4, {6, 1});
  const Ints kernel = full(3, {3, 4});
  NodeCase biased = node(input, kernel, 2);
  biased.inputs.push_back(F32({3}));
  NodeCase first_axis = node(input, kernel, 2);
  first_axis.inputs[1] = Desc(ir::DataType::kInt8, full(3, {4, 4}));
  first_axis.inputs[0] = F32(full(4, {8, 1}));
  first_axis.inputs[1]->quantization = {
      .kind = ir::QuantizationKind::kPerChannel,
      .axis = axes,
      .scales = std::vector<float>(4, 0.5f),
      .zero_points = {0}};
  return {
      {node(full(4, {6}), kernel, 2), "expected"},
      {node(input, full(3, {3}), 2), "expected"},
      {node(input, kernel, 0), "group is 0, expected >= 1"},
      {node(input, kernel, -2), "group is -2, expected >= 1"},
      {node(input, kernel, 4), "group 4 does not divide the 6 channels"},
      {node(input, full(3, {2, 4}), 3), "does not divide the 4 output"},
      {node(input, kernel, 1), "reads 3 channels, expected 6"},
      {node(input, full(3, {6, 1}), 2), "must end in [2, 1]"},
      {node(input, full(3, {5, 1}), 6), "must end in [6, 1]"},
      {node(input, kernel, 2, {{"padding", int64_t{9}}}), "padding"},
      {node(input, kernel, 2, {{"pad", Ints{1}}}), "'pad' has 1 elements"},
      {node(input, kernel, 2, {{"pad", Ints(2 * axes, -(int64_t{1} << 31))}}),
       "pad is -2147483648 and -2147483648, expected -2147483647 to"},
      {node(input, kernel, 2, {{"pad", Ints(2 * axes, 3)}}), "leave nothing"},
      {node(input, kernel, 2, {{"stride", each(0)}}), "stride is 0"},
      {node(input, kernel, 2, {{"output_padding", each(-1)}}),
       "output_padding is -1"},
      {biased, "has 3 elements, expected 4"},
      {first_axis, StrCat("along axis ", axes, ", expected axis ", axes + 1)},
  };
}

std::vector<Shell> Shells2d() {
  using vx::DataLayout;
  using vx::PadType;
  using vx::ops::DeConv2d;
  const std::array<uint32_t, 2> ksize = {1, 2}, stride = {3, 4}, more = {5, 6};
  const std::array<uint32_t, 4> pad = {1, 2, 3, 4};
  const ir::AttributeMap window = {{"oc_count", int64_t{7}},
                                   {"ksize", Ints{1, 2}},
                                   {"stride", Ints{3, 4}},
                                   {"output_padding", Ints{5, 6}}};
  const auto with = [&](const ir::AttributeMap& others) {
    ir::AttributeMap all = window;
    for (const auto& [name, value] : others.entries()) all.Set(name, value);
    return all;
  };
  return {
      ShellOf<DeConv2d>(with({{"padding", int64_t{2}}}), 7, PadType::SAME,
                        ksize, stride, more),
      ShellOf<DeConv2d>(with({{"padding", int64_t{1}},
                              {"input_layout", int64_t{2}},
                              {"kernel_layout", int64_t{3}}}),
                        7, PadType::VALID, ksize, stride, more,
                        DataLayout::CWHN, DataLayout::IcWHOc),
      ShellOf<DeConv2d>(with({{"pad", Ints{1, 2, 3, 4}}}), 7, PadType::AUTO,
                        ksize, stride, more, pad),
      ShellOf<DeConv2d>(with({{"padding", int64_t{-1}},
                              {"pad", Ints{1, 2, 3, 4}},
                              {"group", int64_t{8}},
                              {"input_layout", int64_t{2}},
                              {"kernel_layout", int64_t{3}}}),
                        7, PadType::NONE, ksize, stride, more, pad, 8,
                        DataLayout::CWHN, DataLayout::IcWHOc),
  };
}

std::vector<Shell> Shells1d() {
  using vx::DataLayout;
  using vx::PadType;
  using vx::ops::DeConv1d;
  const std::array<uint32_t, 2> pad = {1, 2};
  const ir::AttributeMap window = {{"stride", int64_t{3}},
                                   {"output_padding", int64_t{4}}};
  const auto with = [&](const ir::AttributeMap& others) {
    ir::AttributeMap all = window;
    for (const auto& [name, value] : others.entries()) all.Set(name, value);
    return all;
  };
  return {
      ShellOf<DeConv1d>(with({{"padding", int64_t{2}}}), PadType::SAME, 3, 4),
      ShellOf<DeConv1d>(with({{"padding", int64_t{1}},
                              {"group", int64_t{5}},
                              {"input_layout", int64_t{7}},
                              {"kernel_layout", int64_t{8}}}),
                        PadType::VALID, 3, 4, 5, DataLayout::WCN,
                        DataLayout::WIcOc),
      ShellOf<DeConv1d>(with({{"pad", Ints{1, 2}}}), pad, 3, 4),
      ShellOf<DeConv1d>(with({{"pad", Ints{1, 2}},
                              {"group", int64_t{5}},
                              {"input_layout", int64_t{7}},
                              {"kernel_layout", int64_t{8}}}),
                        pad, 3, 4, 5, DataLayout::WCN, DataLayout::WIcOc),
      ShellOf<DeConv1d>(with({{"oc_count", int64_t{7}},
                              {"padding", int64_t{-1}},
                              {"ksize", int64_t{9}}}),
                        7, PadType::NONE, 9, 3, 4),
      ShellOf<DeConv1d>(with({{"oc_count", int64_t{7}},
                              {"ksize", int64_t{9}},
                              {"pad", Ints{1, 2}},
                              {"group", int64_t{5}}}),
                        7, PadType::AUTO, 9, 3, 4, pad, 5),
      ShellOf<DeConv1d>(with({{"padding", int64_t{2}},
                              {"pad", Ints{1, 2}},
                              {"group", int64_t{5}},
                              {"input_layout", int64_t{7}},
                              {"kernel_layout", int64_t{8}}}),
                        PadType::SAME, 3, 4, pad, 5, DataLayout::WCN,
                        DataLayout::WIcOc),
  };
}

}  // namespace

TIM_CASES(deconv) {
  cases.Add(
      {.op = "tim.DeConv2d",
       .legal = [](CaseRng& rng) { return Legal("tim.DeConv2d", 2, rng); },
       .illegal = [] { return Illegal("tim.DeConv2d", 2); },
       .tolerance = kSumTolerance,
       .flops = Flops,
       .shells = Shells2d(),
       .permute_rule = PermuteRule::kPartial});
  cases.Add(
      {.op = "tim.DeConv1d",
       .legal = [](CaseRng& rng) { return Legal("tim.DeConv1d", 1, rng); },
       .illegal = [] { return Illegal("tim.DeConv1d", 1); },
       .tolerance = kSumTolerance,
       .flops = Flops,
       .shells = Shells1d()});
}

}  // namespace tim::testing
