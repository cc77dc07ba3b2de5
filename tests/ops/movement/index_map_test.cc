// What index maps make of channels, of places in memory and of loops.
#include "ops/movement/index_map.h"

#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Ints = std::vector<int64_t>;

// Codes with a scale of (c + 1) / 8 for channel c along `axis`.
ir::TensorDesc Channels(Ints shape, int axis) {
  ir::TensorDesc desc = Desc(DataType::kInt8, shape);
  desc.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                       .axis = axis,
                       .scales = {},
                       .zero_points = {0}};
  for (int64_t c = 0; c < shape[axis]; ++c) {
    desc.quantization.scales.push_back(static_cast<float>(c + 1) / 8);
  }
  return desc;
}

// A node whose output's type is inferred.
Result<TestNode> Inferred(const std::string& op, ir::AttributeMap attributes,
                          const ir::TensorDesc& input, int outputs = 1) {
  return MakeNode(op, std::move(attributes), {input},
                  std::vector<ir::TensorDesc>(outputs));
}

// Eighths of the scales, and the axis, of an output.
void ExpectChannels(const TestNode& node, int axis, const Ints& eighths,
                    int output = 0) {
  const ir::Quantization& found = node.output(output).quantization;
  ASSERT_TRUE(found.per_channel()) << node.output(output).ToString();
  EXPECT_EQ(found.axis, axis);
  Ints scales;
  for (const float scale : found.scales) {
    scales.push_back(static_cast<int64_t>(scale * 8));
  }
  EXPECT_EQ(scales, eighths);
  EXPECT_EQ(found.zero_points, std::vector<int32_t>{0});
}

TEST(IndexMap, SlicedChannelsKeepTheirScales) {
  const auto node = Inferred("tim.Slice",
                             {{"dims", int64_t{2}},
                              {"start", Ints{0, 1}},
                              {"length", Ints{3, 4}},
                              {"step", Ints{1, 2}}},
                             Channels({3, 6}, 1));
  ASSERT_OK(node);
  ExpectChannels(*node, 1, {2, 4});
}

TEST(IndexMap, ReversedChannelsTakeTheirScalesAlong) {
  const auto node =
      Inferred("tim.Reverse", {{"axis", Ints{0}}}, Channels({3, 2}, 0));
  ASSERT_OK(node);
  ExpectChannels(*node, 0, {3, 2, 1});
}

TEST(IndexMap, TiledChannelsRepeatTheirScales) {
  const auto node =
      Inferred("tim.Tile", {{"multiples", Ints{1, 2}}}, Channels({3, 2}, 1));
  ASSERT_OK(node);
  ExpectChannels(*node, 1, {1, 2, 1, 2});
}

TEST(IndexMap, SplitChannelsKeepTheirScales) {
  const auto node =
      Inferred("tim.Split", {{"axis", int64_t{1}}, {"slices", Ints{2, 1}}},
               Channels({4, 3}, 1), 2);
  ASSERT_OK(node);
  ExpectChannels(*node, 1, {1, 2}, 0);
  // One channel is a tensor.
  EXPECT_EQ(node->output(1).quantization,
            ir::Quantization::PerTensor(0.375f, 0));
}

TEST(IndexMap, ChannelsOfAnAxisThatGoesBecomeTensors) {
  const auto node = Inferred("tim.Unstack",
                             {{"axis", int64_t{1}}, {"output_num", int64_t{2}}},
                             Channels({4, 2}, 1), 2);
  ASSERT_OK(node);
  EXPECT_EQ(node->output(1).quantization,
            ir::Quantization::PerTensor(0.25f, 0));
}

TEST(IndexMap, ChannelsMoveWithTheirAxis) {
  const auto node =
      Inferred("tim.Squeeze", {{"axis", Ints{0}}}, Channels({1, 4, 2}, 2));
  ASSERT_OK(node);
  ExpectChannels(*node, 1, {1, 2});
}

TEST(IndexMap, ChannelsThatBecomeSpaceNeedADeclaration) {
  const auto node = Inferred("tim.DepthToSpace", {{"block_size", int64_t{2}}},
                             Channels({1, 1, 8, 1}, 2));
  ASSERT_FALSE(node.ok());
  EXPECT_NE(node.status().message().find("declare its type"), std::string::npos)
      << node.status().message();
}

TEST(IndexMap, MovedChannelsAreCopiedByAKernel) {
  const auto node =
      Inferred("tim.Reverse", {{"axis", Ints{1}}}, Channels({3, 5}, 1));
  ASSERT_OK(node);
  std::mt19937 rng = SeededRng(7);
  EXPECT_OK(CheckKernels(*node, rng));
}

// Whether a float32 node is a view, and whether it is nothing.
void ExpectView(const std::string& op, ir::AttributeMap attributes,
                const Ints& input, bool is_view, bool is_identity) {
  const auto node =
      Inferred(op, std::move(attributes), Desc(DataType::kFloat32, input));
  ASSERT_OK(node);
  const ir::Node& made = node->graph.node(node->node);
  const ir::TensorDesc from = node->input(0), to = node->output(0);
  const ir::TensorDesc* inputs[] = {&from};
  const ir::TensorDesc* outputs[] = {&to};
  const ir::NodeView view{made, inputs, outputs};
  EXPECT_EQ(made.schema->is_view(view), is_view) << op;
  EXPECT_EQ(made.schema->is_identity(view), is_identity) << op;
}

TEST(IndexMap, KnowsWhatIsAViewAndWhatIsNothing) {
  ExpectView("tim.Squeeze", {{"axis", Ints{1}}}, {4, 1, 3}, true, false);
  ExpectView("tim.Tile", {{"multiples", Ints{1, 1}}}, {4, 3}, true, true);
  ExpectView("tim.Tile", {{"multiples", Ints{1, 2}}}, {4, 3}, false, false);
  ExpectView("tim.Reverse", {{"axis", Ints{1}}}, {4, 1}, true, true);
  ExpectView("tim.Reverse", {{"axis", Ints{0}}}, {4, 1}, false, false);
  ExpectView("tim.Broadcast", {{"shape", Ints{4, 3, 1}}}, {4, 3}, true, false);
  ExpectView("tim.SpaceToDepth", {{"block_size", Ints{1, 1}}}, {4, 3, 2, 1},
             true, true);
  ExpectView("tim.SpaceToDepth", {{"block_size", Ints{1, 4}}}, {1, 4, 1, 2},
             true, false);
}

int Launches(const Result<TestNode>& node, const std::string& kernel) {
  if (!node.ok()) return -1;
  const auto launches = LaunchesOf(*node, kernel, TestDevice());
  return launches.ok() ? static_cast<int>(launches->size()) : -1;
}

TEST(IndexMap, IsALaunchPerMap) {
  const auto f32 = [](Ints shape) {
    return Desc(DataType::kFloat32, std::move(shape));
  };
  EXPECT_EQ(Launches(Inferred("tim.Split",
                              {{"axis", int64_t{0}}, {"slices", Ints{1, 2, 3}}},
                              f32({6, 5}), 3),
                     "split"),
            3);
  // Cropping and padding do not need more.
  EXPECT_EQ(Launches(Inferred("tim.Batch2Space",
                              {{"block_size", Ints{2, 2}},
                               {"crop", Ints{1, 0, 0, 1}}},
                              f32({4, 4, 1, 4})),
                     "batch2space"),
            1);
  EXPECT_EQ(Launches(Inferred("tim.Reorg", {{"stride", int64_t{2}}},
                              f32({4, 4, 8, 1})),
                     "reorg"),
            1);
  EXPECT_EQ(Launches(Inferred("tim.Reorg", {{"stride", int64_t{2}}},
                              f32({4, 4, 11, 1})),
                     "reorg"),
            3);
}

TEST(IndexMap, FlatLoopsAreJoined) {
  const auto node = Inferred("tim.Slice",
                             {{"dims", int64_t{3}},
                              {"start", Ints{0, 0, 1}},
                              {"length", Ints{4, 3, 2}}},
                             Desc(DataType::kFloat32, {4, 3, 5}));
  ASSERT_OK(node);
  const ir::TensorDesc from = node->input(0), to = node->output(0);
  const ir::TensorDesc* inputs[] = {&from};
  const ir::TensorDesc* outputs[] = {&to};
  ops::IndexMap map({node->graph.node(node->node), inputs, outputs}, 0, 0);
  map.from_start = {0, 0, 1};
  for (int axis = 0; axis < 3; ++axis) {
    map.Loop(map.to[axis], axis, 1, axis, 1);
  }
  const ops::FlatMap flat = ops::Flatten(map);
  EXPECT_EQ(flat.extents, Ints{24});
  EXPECT_EQ(flat.from_start, 12);
  EXPECT_EQ(ops::ContiguousStart(flat, 24), 12);
  EXPECT_EQ(ops::ContiguousStart(flat, 60), -1);
  map.from_start = {0, 0, 4};  // the last two planes are beyond the end
  const ops::FlatMap beyond = ops::Flatten(map);
  EXPECT_EQ(ops::ContiguousStart(beyond, 24), -1);
  EXPECT_EQ(beyond.from_bounds.size(), 1u);
}

}  // namespace
}  // namespace tim::testing
