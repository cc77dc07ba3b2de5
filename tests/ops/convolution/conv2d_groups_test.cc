// Float32 convolutions of several groups against eval: the blocked kernel, and
// the one of tiles of dense tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kBlocked[] = "conv2d_nchw16c";
constexpr char kTile[] = "conv2d_tile";

struct Groups {
  int64_t count = 1;
  int64_t channels = 1;  ///< Of one.
  int64_t outputs = 1;   ///< Of one.

  std::string ToString() const {
    return StrCat(count, " groups of ", channels, " to ", outputs);
  }
};

struct Extents {
  Ints image = {7, 6, 2};  ///< W, H, N.
  Ints kernel = {3, 3};
  Ints stride = {1, 1};
};

Result<TestNode> NodeOf(const Groups& groups, const Extents& extents,
                        std::mt19937& rng, bool constant = true) {
  const TensorDesc weights =
      F32({extents.kernel[0], extents.kernel[1], groups.channels,
           groups.outputs * groups.count});
  std::map<int, TensorData> constants;
  if (constant) constants[1] = RandomTensor(weights, rng);
  return MakeNode("tim.Conv2d",
                  Conv2dAttributes(kSame, {0, 0, 0, 0}, extents.stride),
                  {F32({extents.image[0], extents.image[1],
                        groups.channels * groups.count, extents.image[2]}),
                   weights, F32({groups.outputs * groups.count})},
                  {Inferred()}, constants);
}

void Check(const Result<TestNode>& node, const char* kernel, int lanes,
           std::mt19937& rng) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kernel, TestDeviceOfLanes(lanes)));
  const auto inputs = RandomInputs(*node, rng);
  const auto expected = Eval(*node, inputs);
  const auto actual =
      RunKernel(*node, kernel, 0, inputs, TestDeviceOfLanes(lanes));
  ASSERT_OK(expected);
  ASSERT_OK(actual);
  EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], {1e-4, 1e-5}));
}

// Tiles of one, two and three blocks of a group's output channels, and groups
// whose blocks no tile divides.
TEST(Conv2dGroups, OfWholeBlocks) {
  std::mt19937 rng = SeededRng(1);
  for (const Groups& groups :
       {Groups{4, 16, 16}, Groups{2, 48, 32}, Groups{3, 16, 48},
        Groups{2, 32, 80}, Groups{5, 16, 112}}) {
    SCOPED_TRACE(groups.ToString());
    const int lanes = groups.outputs == 32 ? 4 : 16;
    Check(NodeOf(groups, {.stride = {2, 1}}, rng), kBlocked, lanes, rng);
    Check(NodeOf(groups, {.image = {8, 6, 2}, .kernel = {1, 1}}, rng), kBlocked,
          lanes, rng);
  }
}

TEST(Conv2dGroups, KeepInfinitiesApart) {
  std::mt19937 rng = SeededRng(2);
  for (const auto& [kernel, channels] :
       {std::pair(kBlocked, 16), std::pair(kTile, 5)}) {
    SCOPED_TRACE(kernel);
    const auto node =
        NodeOf({2, channels, channels}, {.image = {5, 4, 1}}, rng);
    ASSERT_OK(node);
    std::vector<TensorData> inputs = RandomInputs(*node, rng);
    std::vector<float> values = Values<float>(inputs[0]);
    for (size_t i = values.size() / 2; i < values.size(); ++i) {
      values[i] = std::numeric_limits<float>::infinity();
    }
    inputs[0] = MakeTensor(inputs[0].desc, values);
    const auto found = RunKernel(*node, kernel, 0, inputs);
    ASSERT_OK(found);
    const std::vector<float> results = Values<float>((*found)[0]);
    for (size_t i = 0; i < results.size() / 2; ++i) {
      ASSERT_TRUE(std::isfinite(results[i])) << i;
    }
  }
}

TEST(Conv2dGroups, WithWeightsThatAreInputs) {
  std::mt19937 rng = SeededRng(3);
  const auto node = NodeOf({3, 16, 32}, {.kernel = {3, 2}}, rng, false);
  Check(node, kBlocked, 16, rng);
  EXPECT_ERROR(Supports(*node, kTile), "the weights are not constant");
}

// Output channels that fill tiles and do not, depthwise multipliers.
TEST(Conv2dGroups, OfAnyChannels) {
  std::mt19937 rng = SeededRng(4);
  for (const Groups& groups :
       {Groups{3, 5, 7}, Groups{2, 24, 40}, Groups{6, 1, 2}}) {
    SCOPED_TRACE(groups.ToString());
    auto node = NodeOf(groups, {.image = {17, 6, 2}, .stride = {2, 1}}, rng);
    ASSERT_OK(node);
    const TensorDesc output = node->output();
    node = Fuse(*node, "tim.Add", {}, {output}, output);
    ASSERT_OK(node);
    for (const int lanes : {4, 8, 16}) {
      Check(Fuse(*node, "tim.Relu", {}, {}, output), kTile, lanes, rng);
    }
  }
}

TEST(Conv2dGroups, RefuseWithReason) {
  std::mt19937 rng = SeededRng(5);
  const auto uneven = NodeOf({2, 4, 2}, {}, rng);
  ASSERT_OK(uneven);
  EXPECT_ERROR(Supports(*uneven, kBlocked),
               "several groups of 4 and 2 channels, both must be multiples");
  const auto one_group = NodeOf({1, 4, 4}, {}, rng);
  ASSERT_OK(one_group);
  EXPECT_ERROR(Supports(*one_group, kTile),
               "there is one group, which has kernels of its own");
}

}  // namespace
}  // namespace tim::testing
