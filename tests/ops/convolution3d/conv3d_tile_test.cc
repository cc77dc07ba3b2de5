// The kernel of Conv3d that makes tiles in registers, against eval.
#include <gtest/gtest.h>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr const char* kKernel = "conv3d_tile";

struct Config {
  Ints input = {9, 5, 4, 3, 2};
  Ints kernel = {3, 3, 2, 37};  ///< Kw, Kh, Kd, Oc.
  Ints pad = {1, 1, 1, 1, 1, 0};
  Ints stride = {1, 1, 1};
  Ints dilation = {1, 1, 1};
  bool bias = false;
};

Result<TestNode> NodeOf(const Config& config, std::mt19937& rng) {
  const TensorDesc weights =
      F32({config.kernel[0], config.kernel[1], config.kernel[2],
           config.input[3], config.kernel[3]});
  std::vector<std::optional<TensorDesc>> inputs = {F32(config.input), weights};
  if (config.bias) inputs.emplace_back(F32({config.kernel[3]}));
  return MakeNode(
      "tim.Conv3d",
      Conv2dAttributes(kAuto, config.pad, config.stride, config.dilation),
      inputs, {Inferred()}, {{1, RandomTensor(weights, rng)}});
}

// For vectors of every width that tiles are made for.
void Check(const Result<TestNode>& node, std::mt19937& rng) {
  ASSERT_OK(node);
  const auto inputs = RandomInputs(*node, rng);
  const auto expected = Eval(*node, inputs);
  ASSERT_OK(expected);
  for (const int lanes : {4, 8, 16}) {
    SCOPED_TRACE(StrCat(lanes, " lanes"));
    const auto actual =
        RunKernel(*node, kKernel, 0, inputs, TestDeviceOfLanes(lanes));
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], {1e-4, 1e-5}));
  }
}

TEST(Conv3dTile, RowsAndChannelTails) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(3);
  for (const int64_t width : {1, 2, 14, 15, 29}) {
    for (const int64_t channels : {1, 16, 33, 48}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(width, " x ", channels));
      Check(NodeOf({.input = {width, 2, 3, 2, 1},
                    .kernel = {3, 2, 2, channels},
                    .bias = true},
                   rng),
            rng);
    }
  }
}

TEST(Conv3dTile, StridesDilationsAndPads) {
  std::mt19937 rng = SeededRng(2);
  Check(NodeOf({.stride = {2, 1, 3}}, rng), rng);
  Check(NodeOf({.stride = {3, 2, 1}, .dilation = {2, 1, 2}}, rng), rng);
  Check(NodeOf({.pad = {4, 0, 0, 3, 2, 2}, .dilation = {3, 2, 1}}, rng), rng);
  Check(NodeOf({.input = {2, 1, 1, 4, 1},
                .kernel = {5, 5, 5, 3},
                .pad = {3, 2, 4, 4, 2, 2}},
               rng),
        rng);
}

TEST(Conv3dTile, FusedEpilogues) {
  std::mt19937 rng = SeededRng(3);
  Sample sample(5);
  for (const bool add : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const char* activation : {"", "tim.Relu6", "tim.Sigmoid"}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(add, " ", residual, " ", activation));
        auto node = NodeOf({.bias = true}, rng);
        ASSERT_OK(node);
        const TensorDesc output = node->output();
        if (add) {
          node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 1, 37})}, output);
        }
        if (residual) node = Fuse(*node, "tim.Add", {}, {output}, output);
        if (*activation != '\0') {
          node = Fuse(*node, activation, {}, {}, output);
        }
        Check(node, rng);
      }
    }
  }
}

// Groups whose output channels fill tiles and do not.
TEST(Conv3dTile, Groups) {
  struct Groups {
    int64_t count;
    int64_t channels;
    int64_t outputs;
  };
  std::mt19937 rng = SeededRng(5);
  for (const auto& [count, channels, outputs] :
       {Groups{3, 5, 7}, Groups{2, 24, 40}, Groups{4, 16, 16}}) {
    SCOPED_TRACE(StrCat(count, " groups of ", channels, " to ", outputs));
    const TensorDesc weights = F32({3, 2, 2, channels, outputs * count});
    Check(MakeNode(
              "tim.Conv3d",
              Conv2dAttributes(kAuto, {1, 1, 0, 1, 1, 0}, {1, 1, 1}, {1, 1, 1}),
              {F32({9, 4, 3, channels * count, 2}), weights,
               F32({outputs * count})},
              {Inferred()}, {{1, RandomTensor(weights, rng)}}),
          rng);
  }
}

TEST(Conv3dTile, RefusesWithReason) {
  std::mt19937 rng = SeededRng(4);
  const TensorDesc input = F32({3, 3, 3, 4, 1});
  const auto variable =
      MakeNode("tim.Conv3d", {}, {input, F32({2, 2, 2, 4, 4})}, {Inferred()});
  ASSERT_OK(variable);
  EXPECT_ERROR(Supports(*variable, kKernel), "the weights are not constant");
  const auto plain = NodeOf({}, rng);
  ASSERT_OK(plain);
  EXPECT_ERROR(Supports(*plain, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices");
}

}  // namespace
}  // namespace tim::testing
