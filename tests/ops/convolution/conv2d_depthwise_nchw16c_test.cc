#include <gtest/gtest.h>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "conv2d_depthwise_nchw16c";
constexpr Tolerance kTolerance = {1e-5, 1e-5};

struct Config {
  Ints input;   // W, H, C, N
  Ints kernel;  // W, H
  int64_t padding = kSame;
  Ints pad = {0, 0, 0, 0};
  Ints stride = {1, 1};
  Ints dilation = {1, 1};
  bool bias = true;
  int64_t group = 1;  ///< Channels of a group.
};

Result<TestNode> NodeOf(const Config& config, std::mt19937& rng) {
  const int64_t channels = config.input[2];
  const bool depthwise = config.group == 1;
  const TensorDesc weights =
      F32({config.kernel[0], config.kernel[1],
           depthwise ? channels : config.group, depthwise ? 1 : channels});
  std::vector<std::optional<TensorDesc>> inputs = {F32(config.input), weights};
  if (config.bias) inputs.push_back(F32({channels}));
  return MakeNode("tim.Conv2d",
                  Conv2dAttributes(config.padding, config.pad, config.stride,
                                   config.dilation, depthwise ? 1 : 0),
                  inputs, {Inferred()}, {{1, RandomTensor(weights, rng)}});
}

void Check(const Result<TestNode>& node, std::mt19937& rng,
           const ir::DeviceInfo& device = TestDevice()) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kKernel));
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    const auto actual = RunKernel(*node, kKernel, 0, inputs, device);
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], kTolerance));
  }
}

TEST(Conv2dDepthwiseNchw16c, ChannelTailsAndBatches) {
  std::mt19937 rng = SeededRng(1);
  for (const int64_t channels : {1, 15, 16, 17, 32, 33}) {
    SCOPED_TRACE(channels);
    Check(NodeOf({.input = {9, 5, channels, 2}, .kernel = {3, 3}}, rng), rng);
  }
}

TEST(Conv2dDepthwiseNchw16c, RowWidths) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t width : {1, 2, 3, 7, 12, 13, 14, 28, 31, 33, 56}) {
    for (const int64_t stride : {1, 2}) {
      SCOPED_TRACE(StrCat(width, " stride ", stride));
      Check(NodeOf({.input = {width, 4, 16, 1},
                    .kernel = {3, 3},
                    .stride = {stride, stride}},
                   rng),
            rng);
    }
  }
}

TEST(Conv2dDepthwiseNchw16c, TilesOfNarrowerVectors) {
  std::mt19937 rng = SeededRng(14);
  for (const int lanes : {4, 8}) {
    const ir::DeviceInfo device = TestDeviceOfLanes(lanes);
    for (const int64_t width : {3, 14, 17}) {
      SCOPED_TRACE(StrCat(lanes, " lanes, width ", width));
      Check(NodeOf({.input = {width, 5, 20, 1}, .kernel = {3, 3}}, rng), rng,
            device);
    }
  }
}

TEST(Conv2dDepthwiseNchw16c, KernelsPadsAndDilations) {
  std::mt19937 rng = SeededRng(3);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const int cases = RunsLongTests() ? 20 : 8;
  for (int checked = 0; checked < cases;) {
    const Config config = {
        .input = {1 + small(40), 1 + small(9), 1 + small(40), 1 + small(2)},
        .kernel = {1 + small(7), 1 + small(5)},
        .padding = small(4) - 1,
        .pad = {small(5), small(5), small(5), small(5)},
        .stride = {1 + small(3), 1 + small(3)},
        .dilation = {small(4), small(3)},
        .bias = small(2) == 0};
    const auto node = NodeOf(config, rng);
    if (!node.ok()) continue;  // The kernel does not fit the input.
    SCOPED_TRACE(node->input(0).ToString() + " " + node->input(1).ToString());
    Check(node, rng);
    ++checked;
  }
}

TEST(Conv2dDepthwiseNchw16c, NarrowGroups) {
  std::mt19937 rng = SeededRng(15);
  Sample sample(4);
  for (const int64_t group : {2, 4, 8}) {
    for (const int64_t groups : {2, 3, 5}) {
      SCOPED_TRACE(StrCat(groups, " groups of ", group));
      const Config config = {.input = {15, 5, group * groups, 2},
                             .kernel = {3, 2},
                             .stride = {1 + groups % 2, 2},
                             .group = group};
      for (const int lanes : {4, 8, 16}) {
        if (!sample.Takes()) continue;
        Check(NodeOf(config, rng), rng, TestDeviceOfLanes(lanes));
      }
    }
  }
  auto node =
      NodeOf({.input = {9, 6, 20, 2}, .kernel = {3, 3}, .group = 4}, rng);
  const TensorDesc output = F32({9, 6, 20, 2});
  node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 20})}, output);
  node = Fuse(*node, "tim.Sigmoid", {}, {}, output);
  Check(node, rng);
}

TEST(Conv2dDepthwiseNchw16c, FusedEpilogues) {
  std::mt19937 rng = SeededRng(4);
  const TensorDesc output = F32({9, 6, 20, 2});
  for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
    for (const bool add : {false, true}) {
      SCOPED_TRACE(StrCat(activation, " ", add));
      auto node = NodeOf({.input = {9, 6, 20, 2}, .kernel = {3, 3}}, rng);
      if (add) node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 20})}, output);
      if (*activation != '\0') node = Fuse(*node, activation, {}, {}, output);
      Check(node, rng);
    }
  }
}

TEST(Conv2dDepthwiseNchw16c, RefusesWithReason) {
  std::mt19937 rng = SeededRng(5);
  const TensorDesc input = F32({3, 3, 4, 1});
  const TensorDesc weights = F32({1, 1, 4, 1});
  const auto attributes = Conv2dAttributes(kAuto, {0, 0, 0, 0}, {1, 1}, {1, 1});
  const auto refusal = [](const Result<TestNode>& node) {
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  EXPECT_ERROR(
      refusal(MakeNode("tim.Conv2d", attributes, {input, weights}, {Inferred()},
                       {{1, RandomTensor(weights, rng)}})),
      "one input and one output channel");
  const TensorDesc whole = F32({1, 1, 4, 4});
  EXPECT_ERROR(refusal(MakeNode("tim.Conv2d", attributes, {input, whole},
                                {Inferred()}, {{1, RandomTensor(whole, rng)}})),
               "one of several with 2, 4 or 8 of both");
  const auto depthwise =
      Conv2dAttributes(kAuto, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1);
  EXPECT_ERROR(refusal(MakeNode("tim.Conv2d", depthwise, {input, weights},
                                {Inferred(DataType::kFloat16)},
                                {{1, RandomTensor(weights, rng)}})),
               "must be float32, not float16");
  EXPECT_ERROR(
      refusal(NodeOf(
          {.input = {200, 1, 1, 1}, .kernel = {4, 1}, .dilation = {40, 1}},
          rng)),
      "at most 64 are kept");
  const auto plain = NodeOf({.input = {3, 3, 4, 1}, .kernel = {1, 1}}, rng);
  ASSERT_OK(plain);
  EXPECT_ERROR(Supports(*plain, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices; this one takes kernels of class gpu");
}

}  // namespace
}  // namespace tim::testing
