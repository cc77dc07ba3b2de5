// DeConv2d and DeConv1d by hand, with unknown extents, in other layouts and
// fused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::Permutation;
using ir::TensorDesc;
using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// The result of eval, with which every kernel agrees.
Floats ResultOf(const std::string& op, AttributeMap attributes,
                const std::vector<std::pair<Ints, Floats>>& inputs,
                const TensorDesc& output = Inferred()) {
  std::vector<std::optional<TensorDesc>> descs;
  std::vector<TensorData> data;
  for (const auto& [shape, values] : inputs) {
    descs.emplace_back(F32(shape));
    data.push_back(MakeTensor(F32(shape), values));
  }
  const auto node = MakeNode(op, std::move(attributes), descs, {output});
  EXPECT_OK(node);
  if (!node.ok()) return {};
  const auto results = Eval(*node, data);
  EXPECT_OK(results);
  return results.ok() ? Values<float>((*results)[0]) : Floats();
}

TEST(DeConv2d, OneElementSpreadsTheKernelUnflipped) {
  EXPECT_THAT(
      ResultOf("tim.DeConv2d", {},
               {{{1, 1, 1, 1}, {2}}, {{3, 2, 1, 1}, {1, 2, 3, 4, 5, 6}}}),
      ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST(DeConv2d, StrideSpreadsAndPadCuts) {
  const AttributeMap attributes = {{"stride", Ints{2, 1}},
                                   {"pad", Ints{1, 0, 0, 0}}};
  // Whole: 1 10 102 20 200, of which the first is cut.
  EXPECT_THAT(ResultOf("tim.DeConv2d", attributes,
                       {{{2, 1, 1, 1}, {1, 2}}, {{3, 1, 1, 1}, {1, 10, 100}}}),
              ElementsAre(10, 102, 20, 200));
}

TEST(DeConv2d, WhatNothingReachesIsTheBias) {
  const AttributeMap attributes = {{"stride", Ints{3, 1}},
                                   {"output_padding", Ints{1, 0}}};
  EXPECT_THAT(
      ResultOf("tim.DeConv2d", attributes,
               {{{2, 1, 1, 1}, {1, 2}}, {{1, 1, 1, 1}, {10}}, {{1}, {5}}}),
      ElementsAre(15, 5, 5, 25, 5));
}

// TRANSPOSE_CONV of TFLite with SAME: rows of 2 * 3 cells, of which a kernel of
// 2 reaches 5.
TEST(DeConv2d, NegativePadsAreCellsThatNothingReaches) {
  const auto of = [](Ints pad, const TensorDesc& output = Inferred()) {
    return ResultOf(
        "tim.DeConv2d", {{"stride", Ints{3, 1}}, {"pad", std::move(pad)}},
        {{{2, 1, 1, 1}, {1, 2}}, {{2, 1, 1, 1}, {10, 100}}, {{1}, {5}}},
        output);
  };
  EXPECT_THAT(of({0, -1, 0, 0}), ElementsAre(15, 105, 5, 25, 205, 5));
  EXPECT_THAT(of({0, -1, 0, 0}, F32({6, 1, 1, 1})),
              ElementsAre(15, 105, 5, 25, 205, 5));
  EXPECT_THAT(of({-2, 0, 0, 0}), ElementsAre(5, 5, 15, 105, 5, 25, 205));
  EXPECT_THAT(of({-4, 3, 0, 0}), ElementsAre(5, 5, 5, 5, 15, 105));
  EXPECT_THAT(of({1, -2, 0, 0}), ElementsAre(105, 5, 25, 205, 5, 5));
}

// Against the sum written from the formula, in double, for every stride,
// kernel and pad of one axis.
TEST(DeConv2d, PadsOfBothSignsEqualTheFormula) {
  std::mt19937 rng = SeededRng(11);
  const int64_t input = 4;
  for (const int64_t stride : {1, 2, 3, 5}) {
    for (const int64_t kernel : {1, 2, 3, 6}) {
      for (int64_t front = -7; front <= 3; ++front) {
        for (int64_t back = -2; back <= 1; ++back) {
          const int64_t extent = (input - 1) * stride + kernel - front - back;
          if (extent < 1) continue;
          SCOPED_TRACE(StrCat("stride ", stride, " kernel ", kernel, " pads ",
                              front, " and ", back));
          Floats x(input), taps(kernel);
          for (float& v : x) v = static_cast<float>(rng() % 19) - 9;
          for (float& v : taps) v = static_cast<float>(rng() % 19) - 9;
          std::vector<double> sums(extent, 0.5);
          for (int64_t i = 0; i < input; ++i) {
            for (int64_t k = 0; k < kernel; ++k) {
              const int64_t to = i * stride - front + k;
              if (to >= 0 && to < extent) sums[to] += double{x[i]} * taps[k];
            }
          }
          const Floats found = ResultOf(
              "tim.DeConv2d",
              {{"stride", Ints{1, stride}}, {"pad", Ints{0, 0, front, back}}},
              {{{1, input, 1, 1}, x},
               {{1, kernel, 1, 1}, taps},
               {{1}, {0.5f}}});
          EXPECT_EQ(found, Floats(sums.begin(), sums.end()));
        }
      }
    }
  }
}

TEST(DeConv2d, DeclaredExtentsRuleOverOutputPadding) {
  const AttributeMap attributes = {{"output_padding", Ints{1, 1}}};
  EXPECT_THAT(ResultOf("tim.DeConv2d", attributes,
                       {{{2, 1, 1, 1}, {1, 2}}, {{2, 1, 1, 1}, {1, 10}}},
                       F32({2, 1, 1, 1})),
              ElementsAre(1, 12));
}

TEST(DeConv2d, PaddingModeIsWithoutEffect) {
  for (const int64_t padding : {-1, 0, 1, 2}) {
    EXPECT_THAT(ResultOf("tim.DeConv2d", {{"padding", padding}},
                         {{{2, 1, 1, 1}, {1, 2}}, {{2, 1, 1, 1}, {1, 10}}}),
                ElementsAre(1, 12, 20))
        << padding;
  }
}

// Both forms of a depthwise kernel.
TEST(DeConv2d, EveryChannelMayBeAGroup) {
  const Floats kernel = {1, 2, 10, 20};
  for (const Ints& shape : {Ints{2, 1, 2, 1}, Ints{2, 1, 1, 2}}) {
    EXPECT_THAT(ResultOf("tim.DeConv2d", {{"group", int64_t{2}}},
                         {{{1, 1, 2, 1}, {3, 4}}, {shape, kernel}}),
                ElementsAre(3, 6, 40, 80));
  }
}

TEST(DeConv1d, ConstructorsCountOfChannelsIsDiscarded) {
  EXPECT_THAT(
      ResultOf(
          "tim.DeConv1d",
          {{"oc_count", int64_t{2}}, {"output_padding", int64_t{1}}},
          {{{3, 2, 1}, {3, 9, 3, 7, 5, 9}}, {{3, 2, 1}, {9, 0, 1, 3, 0, 0}}}),
      ElementsAre(48, 96, 57, 9, 3, 0));
}

TEST(DeConv2d, InfersWithUnknownExtents) {
  const auto shape_of = [](AttributeMap attributes, ir::Shape input,
                           ir::Shape kernel, ir::Shape declared = {}) {
    TensorDesc x = F32({}), w = F32({}), y;
    x.shape = std::move(input);
    w.shape = std::move(kernel);
    y.shape = std::move(declared);
    const auto node =
        MakeNode("tim.DeConv2d", std::move(attributes), {x, w}, {y});
    EXPECT_OK(node);
    return node.ok() ? node->output().shape.ToString() : std::string();
  };
  const AttributeMap stride = {{"stride", Ints{2, 3}}};
  const AttributeMap groups = {{"group", int64_t{4}}};
  EXPECT_EQ(shape_of(stride, {}, {}), "[?, ?, ?, ?]");
  EXPECT_EQ(shape_of(stride, {}, {3, 3, 4, 8}), "[?, ?, 8, ?]");
  EXPECT_EQ(shape_of(stride, {9, 7, 4, 2}, {}), "[?, ?, ?, 2]");
  EXPECT_EQ(shape_of(stride, {9, -1, 4, -1}, {3, 3, -1, 8}), "[19, ?, 8, ?]");
  EXPECT_EQ(shape_of(groups, {9, 7, -1, 1}, {3, 3, -1, 1}), "[11, 9, 4, 1]");
  EXPECT_EQ(shape_of(groups, {9, 7, 4, 1}, {3, 3, 4, -1}), "[11, 9, ?, 1]");
  EXPECT_EQ(shape_of(stride, {9, 7, 4, 2}, {3, 3, 4, 8}, {5, 1, 8, 2}),
            "[5, 1, 8, 2]");
}

TEST(DeConv2d, LayoutsAreThoseOfConv2d) {
  const TensorDesc x = F32({5, 5, 5, 5});
  const auto node = MakeNode("tim.DeConv2d",
                             {{"input_layout", int64_t{2}},    // CWHN
                              {"kernel_layout", int64_t{5}}},  // IcOcWH
                             {x, x, F32({5})}, {TensorDesc()});
  ASSERT_OK(node);
  const TensorDesc* inputs[] = {&node->input(0), &node->input(1),
                                &node->input(2)};
  const TensorDesc* outputs[] = {&node->output()};
  const auto answer =
      ir::NodeInDefaultLayout({node->graph.node(node->node), inputs, outputs});
  ASSERT_OK(answer);
  EXPECT_EQ(answer->inputs,
            (std::vector<Permutation>{{1, 2, 0, 3}, {2, 3, 0, 1}, {}}));
  EXPECT_EQ(answer->outputs, (std::vector<Permutation>{{1, 2, 0, 3}}));
}

// What is folded into weights relies on it.
TEST(DeConv2d, SumChannelsAreThoseThatWeightsMake) {
  for (const Ints& kernel : {Ints{2, 2, 3, 1}, Ints{2, 2, 1, 3}}) {
    const auto node = MakeNode("tim.DeConv2d", {{"group", int64_t{3}}},
                               {F32({4, 3, 3, 1}), F32(kernel)}, {Inferred()});
    ASSERT_OK(node);
    const TensorDesc* inputs[] = {&node->input(0), &node->input(1)};
    const TensorDesc* outputs[] = {&node->output()};
    const ir::Node& of = node->graph.node(node->node);
    const auto channels = of.schema->sum_channels({of, inputs, outputs});
    ASSERT_TRUE(channels.has_value());
    EXPECT_EQ(node->output().shape[channels->axis], 3);
    EXPECT_EQ(kernel[channels->weights_axis], 3);
  }
}

TEST(DeConv2d, FusedEpiloguesEqualTheBody) {
  std::mt19937 rng = SeededRng(3);
  const Ints shape = {9, 8, 5, 2};
  const AttributeMap attributes = {{"stride", Ints{2, 2}},
                                   {"pad", Ints{1, 1, 1, 2}}};
  const TensorDesc u8 = Desc(DataType::kUint8, shape, 0.4f, 100);
  for (const TensorDesc& output : {F32(shape), u8}) {
    const bool is_float = ir::IsFloat(output.type);
    const auto of = [&](Ints extents) {
      return is_float ? F32(extents)
                      : Desc(DataType::kUint8, std::move(extents), 0.05f, 120);
    };
    auto node = MakeNode("tim.DeConv2d", attributes,
                         {of({5, 5, 6, 2}), of({3, 3, 6, 5})}, {output});
    ASSERT_OK(node);
    if (is_float) {
      node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 5})}, output);
      ASSERT_OK(node);
    }
    node = Fuse(*node, "tim.Relu6", {}, {}, output);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, rng, {1e-4, 1e-5}));
  }
}

}  // namespace
}  // namespace tim::testing
