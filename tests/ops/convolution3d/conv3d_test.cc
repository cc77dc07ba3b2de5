// Conv3d by hand, with unknown extents, in other layouts and fused.
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

constexpr int64_t kCwhdn = 11;
constexpr int64_t kOcIcWhd = 12;

TEST(Conv3d, HandCheckedVolume) {
  // Two planes of 2 x 2; the kernel takes the difference of the planes, and the
  // last cell of each row twice.
  const TensorDesc x = F32({2, 2, 2, 1, 1});
  const TensorDesc w = F32({2, 1, 2, 1, 1});
  const TensorDesc b = F32({1});
  const auto node = MakeNode("tim.Conv3d", {}, {x, w, b}, {Inferred()});
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({1, 2, 1, 1, 1}));
  const auto y =
      Eval(*node, {MakeTensor<float>(x, {1, 2, 3, 4, 50, 60, 70, 80}),
                   MakeTensor<float>(w, {-1, -2, 1, 2}),
                   MakeTensor<float>(b, {1000})});
  ASSERT_OK(y);
  EXPECT_THAT(Values<float>((*y)[0]), ElementsAre(1165, 1219));
}

TEST(Conv3d, InfersWithUnknownExtents) {
  const auto shape_of = [](AttributeMap attributes, ir::Shape input,
                           ir::Shape kernel) {
    TensorDesc x = F32({}), w = F32({});
    x.shape = std::move(input);
    w.shape = std::move(kernel);
    const auto node =
        MakeNode("tim.Conv3d", std::move(attributes), {x, w}, {Inferred()});
    EXPECT_OK(node);
    return node.ok() ? node->output().shape.ToString() : std::string();
  };
  EXPECT_EQ(shape_of({}, {}, {}), "[?, ?, ?, ?, ?]");
  EXPECT_EQ(shape_of({}, {}, {3, 3, 2, 4, 8}), "[?, ?, ?, 8, ?]");
  EXPECT_EQ(shape_of({{"stride", Ints{1, 2, 3}}, {"padding", int64_t{2}}},
                     {9, 7, 5, 4, 2}, {}),
            "[9, 4, 2, ?, 2]");
  EXPECT_EQ(shape_of({}, {9, -1, 5, 4, -1}, {3, 3, 2, -1, 8}),
            "[7, ?, 4, 8, ?]");
}

// The kernel's layout counts beside an input in CWHDN alone.
TEST(Conv3d, LayoutsCountTogether) {
  const TensorDesc x = F32({5, 5, 5, 5, 5});
  const auto permuted = [&](const AttributeMap& attributes) {
    const auto node =
        MakeNode("tim.Conv3d", attributes, {x, x, F32({5})}, {TensorDesc()});
    EXPECT_OK(node);
    const TensorDesc* inputs[] = {&node->input(0), &node->input(1),
                                  &node->input(2)};
    const TensorDesc* outputs[] = {&node->output()};
    const auto answer = ir::NodeInDefaultLayout(
        {node->graph.node(node->node), inputs, outputs});
    EXPECT_OK(answer);
    return answer->inputs;
  };
  EXPECT_EQ(permuted({{"input_layout", kCwhdn}, {"kernel_layout", kOcIcWhd}}),
            (std::vector<Permutation>{{1, 2, 3, 0, 4}, {2, 3, 4, 1, 0}, {}}));
  EXPECT_EQ(permuted({{"input_layout", kCwhdn}}),
            (std::vector<Permutation>{{1, 2, 3, 0, 4}, {}, {}}));
  EXPECT_EQ(permuted({{"kernel_layout", kOcIcWhd}}),
            (std::vector<Permutation>{{}, {}, {}}));
}

TEST(Conv3d, SumChannelsAreThoseThatWeightsMake) {
  for (const Ints& kernel : {Ints{2, 2, 1, 3, 1}, Ints{2, 2, 1, 1, 3}}) {
    const auto node =
        MakeNode("tim.Conv3d", {{"multiplier", int64_t{1}}},
                 {F32({4, 3, 2, 3, 1}), F32(kernel)}, {Inferred()});
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

TEST(Conv3d, AbsorbsZerosAlongSpatialAxes) {
  const auto node =
      MakeNode("tim.Conv3d", {{"pad", Ints{1, 0, 0, 0, 2, 3}}},
               {F32({4, 4, 4, 2, 1}), F32({2, 2, 2, 2, 2})}, {Inferred()});
  ASSERT_OK(node);
  const TensorDesc* inputs[] = {&node->input(0), &node->input(1)};
  const TensorDesc* outputs[] = {&node->output()};
  const ir::Node& of = node->graph.node(node->node);
  const auto absorbed = [&](const ir::Padding& padding) {
    return of.schema->absorb_padding({of, inputs, outputs}, padding);
  };
  const auto taken =
      absorbed({.front = {0, 1, 2, 0, 0}, .back = {3, 0, 1, 0, 0}});
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->Ints("pad"), (Ints{1, 3, 1, 0, 4, 4}));
  EXPECT_FALSE(absorbed({.front = {0, 0, 0, 1, 0}, .back = {0, 0, 0, 0, 0}}));
  EXPECT_FALSE(absorbed(
      {.front = {1, 0, 0, 0, 0}, .back = {0, 0, 0, 0, 0}, .value = 1}));
}

TEST(Conv3d, FusedEpiloguesEqualTheBody) {
  std::mt19937 rng = SeededRng(3);
  const Ints shape = {5, 4, 3, 6, 2};
  const TensorDesc u8 = Desc(DataType::kUint8, shape, 0.4f, 100);
  for (const TensorDesc& output : {F32(shape), u8}) {
    const bool is_float = ir::IsFloat(output.type);
    const auto of = [&](Ints extents) {
      return is_float ? F32(extents)
                      : Desc(DataType::kUint8, std::move(extents), 0.05f, 120);
    };
    auto node = MakeNode("tim.Conv3d", {{"padding", int64_t{kSame}}},
                         {of({5, 4, 3, 2, 2}), of({3, 3, 3, 2, 6})}, {output});
    ASSERT_OK(node);
    if (is_float) {
      node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 1, 6})}, output);
      ASSERT_OK(node);
    }
    node = Fuse(*node, "tim.Relu6", {}, {}, output);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, rng, {1e-4, 1e-5}));
  }
}

}  // namespace
}  // namespace tim::testing
