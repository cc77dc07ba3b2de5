// GroupedConv1d and GroupedConv2d.
#include "tests/properties/families/conv_axis.h"
#include "tests/properties/sum_cases.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tim/vx/ops/groupedconv1d.h"
#include "tim/vx/ops/groupedconv2d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

struct Groups {
  int64_t count = 1;
  int64_t input = 1;  ///< Of one group.
  int64_t output = 1;
};

Groups RandomGroups(CaseRng& rng) {
  return {.count = rng.Int(1, 6),
          .input = rng.OneIn(3) ? 1 : rng.Int(1, 5),
          .output = rng.OneIn(3) ? 1 : rng.Int(1, 5)};
}

NodeCase CaseOf(SumNode node, const Groups& groups, int64_t padding,
                CaseRng& rng) {
  const int64_t batch = rng.Int(1, 2);
  SumSizes& sizes = node.sizes;
  node.attributes.Set("padding", padding);
  node.attributes.Set("group", groups.count);
  for (const int64_t kernel : sizes.weights) sizes.terms *= kernel;
  sizes.terms *= groups.input;
  sizes.channels = groups.count * groups.output;
  for (const int64_t extent : {groups.count * groups.input, batch}) {
    sizes.input.push_back(extent);
  }
  for (const int64_t extent : {groups.input, sizes.channels}) {
    sizes.weights.push_back(extent);
  }
  sizes.weights_axis = static_cast<int>(sizes.weights.size()) - 1;
  for (const int64_t extent : {sizes.channels, batch}) {
    node.output.push_back(extent);
  }
  return SumCase(node, rng.OneIn(2), rng);
}

NodeCase Legal1d(CaseRng& rng) {
  const int64_t padding = rng.Pick<int64_t>({kAuto, kSame, kValid, -1});
  const ConvCaseAxis w = RandomConvAxis(rng);
  return CaseOf({.op = "tim.GroupedConv1d",
                 .attributes = {{"pad", Ints{w.front, w.back}},
                                {"stride", w.stride},
                                {"dilation", w.dilation}},
                 .sizes = {.input = {w.input}, .weights = {w.kernel}},
                 .output = {w.Output(padding)}},
                RandomGroups(rng), padding, rng);
}

NodeCase Legal2d(CaseRng& rng) {
  const int64_t padding = rng.Pick<int64_t>({kAuto, kSame, kValid, -1});
  const ConvCaseAxis w = RandomConvAxis(rng);
  const ConvCaseAxis h = RandomConvAxis(rng);
  return CaseOf(
      {.op = "tim.GroupedConv2d",
       .attributes = {{"pad", Ints{w.front, w.back, h.front, h.back}},
                      {"stride", Ints{w.stride, h.stride}},
                      {"dilation", Ints{w.dilation, h.dilation}}},
       .sizes = {.input = {w.input, h.input}, .weights = {w.kernel, h.kernel}},
       .output = {w.Output(padding), h.Output(padding)}},
      RandomGroups(rng), padding, rng);
}

double Flops(const NodeCase& node) {
  const ir::Shape& kernel = node.inputs[1]->shape;
  return SumFlops(node, kernel.Product(0, kernel.rank() - 1));
}

// Nodes [.., 6, 1] with kernels [.., 3, 4] and so many axes before them.
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
  const Ints input = full(4, {6, 1});
  const Ints kernel = full(3, {3, 4});
  NodeCase biased = node(input, kernel, 2);
  biased.inputs.push_back(F32({3}));
  return {
      {node(full(4, {6}), kernel, 2), "expected"},
      {node(input, full(3, {3}), 2), "expected"},
      {node(input, full(5, {3, 4}), 2), "does not fit the input"},
      {node(input, kernel, 0), "group is 0, expected >= 1"},
      {node(input, kernel, -2), "group is -2, expected >= 1"},
      {node(input, kernel, 4), "group 4 does not divide the 6 channels"},
      {node(input, full(3, {2, 4}), 3), "does not divide the 4 output"},
      {node(input, kernel, 1), "read 3 channels, expected 6"},
      {node(input, kernel, 2, {{"padding", int64_t{9}}}), "padding"},
      {node(input, kernel, 2, {{"pad", Ints{1}}}), "'pad' has 1 elements"},
      {biased, "has 3 elements, expected 4"},
  };
}

std::vector<Shell> Shells1d() {
  using vx::DataLayout;
  using vx::PadType;
  using vx::ops::GroupedConv1d;
  const std::array<uint32_t, 2> pad = {1, 2};
  return {
      ShellOf<GroupedConv1d>({{"padding", int64_t{0}},
                              {"pad", Ints{1, 2}},
                              {"stride", int64_t{3}},
                              {"dilation", int64_t{4}},
                              {"group", int64_t{5}}},
                             PadType::AUTO, pad, 3, 4, 5),
      ShellOf<GroupedConv1d>({{"padding", int64_t{1}},
                              {"stride", int64_t{3}},
                              {"dilation", int64_t{4}},
                              {"group", int64_t{5}},
                              {"input_layout", int64_t{1}},
                              {"kernel_layout", int64_t{6}}},
                             PadType::VALID, 3, 4, 5, DataLayout::WHCN,
                             DataLayout::WHIcOc),
  };
}

std::vector<Shell> Shells2d() {
  using vx::DataLayout;
  using vx::PadType;
  using vx::ops::GroupedConv2d;
  const std::array<uint32_t, 2> strides = {1, 2}, dilation = {3, 4};
  const std::array<uint32_t, 4> pad = {1, 2, 3, 4};
  return {
      ShellOf<GroupedConv2d>({{"padding", int64_t{2}},
                              {"stride", Ints{1, 2}},
                              {"dilation", Ints{3, 4}},
                              {"group", int64_t{5}}},
                             PadType::SAME, strides, dilation, 5),
      ShellOf<GroupedConv2d>({{"padding", int64_t{0}},
                              {"pad", Ints{1, 2, 3, 4}},
                              {"stride", Ints{1, 2}},
                              {"dilation", Ints{3, 4}},
                              {"group", int64_t{5}},
                              {"input_layout", int64_t{2}},
                              {"kernel_layout", int64_t{3}}},
                             pad, strides, dilation, 5, DataLayout::CWHN,
                             DataLayout::IcWHOc),
  };
}

}  // namespace

TIM_CASES(grouped) {
  cases.Add({.op = "tim.GroupedConv1d",
             .legal = Legal1d,
             .illegal = [] { return Illegal("tim.GroupedConv1d", 1); },
             .tolerance = kSumTolerance,
             .flops = Flops,
             .shells = Shells1d()});
  cases.Add({.op = "tim.GroupedConv2d",
             .legal = Legal2d,
             .illegal = [] { return Illegal("tim.GroupedConv2d", 2); },
             .tolerance = kSumTolerance,
             .flops = Flops,
             .shells = Shells2d(),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
