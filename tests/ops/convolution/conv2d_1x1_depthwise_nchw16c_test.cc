#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

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

constexpr char kKernel[] = "conv2d_1x1_depthwise_nchw16c";
constexpr Tolerance kTolerance = {1e-4, 1e-5};

// A 1x1 convolution, `inner_limit`, a depthwise convolution, `limit`.
struct Config {
  Ints input;  // W, H, C, N
  int64_t channels = 32;
  Ints kernel = {3, 3};
  int64_t padding = kSame;
  Ints pad = {0, 0, 0, 0};
  Ints stride = {1, 1};
  Ints dilation = {1, 1};
  bool inner_bias = true;
  bool bias = true;
  std::string inner_limit = "tim.Relu6";
  std::string limit = "tim.Relu";

  TensorDesc weights() const { return F32({1, 1, input[2], channels}); }
  TensorDesc taps() const { return F32({kernel[0], kernel[1], channels, 1}); }
};

Result<TestNode> InnerOf(const Config& config, std::mt19937& rng) {
  std::vector<std::optional<TensorDesc>> inputs = {F32(config.input),
                                                   config.weights()};
  if (config.inner_bias) inputs.push_back(F32({config.channels}));
  TIM_ASSIGN_OR_RETURN(
      TestNode node,
      MakeNode("tim.Conv2d", Conv2dAttributes(kAuto), inputs, {Inferred()},
               {{1, RandomTensor(config.weights(), rng)}}));
  if (config.inner_limit.empty()) return node;
  return Fuse(node, config.inner_limit, {}, {}, Inferred());
}

Result<TestNode> NodeOf(const Config& config, std::mt19937& rng) {
  TIM_ASSIGN_OR_RETURN(TestNode node, InnerOf(config, rng));
  std::vector<TensorDesc> others = {config.taps()};
  if (config.bias) others.push_back(F32({config.channels}));
  TIM_ASSIGN_OR_RETURN(
      node, Fuse(node, "tim.Conv2d",
                 Conv2dAttributes(config.padding, config.pad, config.stride,
                                  config.dilation, 1),
                 others, Inferred(), {{0, RandomTensor(config.taps(), rng)}}));
  if (config.limit.empty()) return node;
  return Fuse(node, config.limit, {}, {}, Inferred());
}

void Check(const Result<TestNode>& node, std::mt19937& rng,
           const ir::DeviceInfo& device = TestDevice()) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kKernel, device));
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    const auto actual = RunKernel(*node, kKernel, 0, inputs, device);
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], kTolerance));
  }
}

TEST(Conv2d1x1DepthwiseNchw16c, ChannelTailsAndBatches) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(4);
  for (const int64_t ic : {1, 16, 24, 33}) {
    for (const int64_t channels : {1, 15, 16, 17, 32, 33, 48, 65, 144}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(ic, " to ", channels));
      Check(NodeOf({.input = {9, 5, ic, 2}, .channels = channels}, rng), rng);
    }
  }
}

TEST(Conv2d1x1DepthwiseNchw16c, ImageSizes) {
  std::mt19937 rng = SeededRng(2);
  Sample sample(5);
  for (const int64_t width : {4, 5, 7, 13, 14, 15, 31, 56, 113, 300}) {
    for (const int64_t height : {1, 3, 23}) {
      for (const int64_t stride : {1, 2}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(width, "x", height, " stride ", stride));
        Check(NodeOf({.input = {width, height, 16, 1},
                      .channels = 40,
                      .stride = {stride, stride}},
                     rng),
              rng);
      }
    }
  }
}

TEST(Conv2d1x1DepthwiseNchw16c, TilesOfNarrowerVectors) {
  std::mt19937 rng = SeededRng(3);
  for (const int lanes : {4, 8}) {
    const ir::DeviceInfo device = TestDeviceOfLanes(lanes);
    for (const int64_t width : {4, 14, 17, 60}) {
      SCOPED_TRACE(StrCat(lanes, " lanes, width ", width));
      Check(NodeOf({.input = {width, 5, 20, 1}, .channels = 40}, rng), rng,
            device);
    }
  }
}

TEST(Conv2d1x1DepthwiseNchw16c, KernelsPadsAndDilations) {
  std::mt19937 rng = SeededRng(4);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const int cases = RunsLongTests() ? 25 : 9;
  for (int checked = 0; checked < cases;) {
    const Config config = {
        .input = {4 + small(40), 1 + small(20), 1 + small(40), 1 + small(2)},
        .channels = 1 + small(60),
        .kernel = {1 + small(7), 1 + small(5)},
        .padding = small(4) - 1,
        .pad = {small(5), small(5), small(5), small(5)},
        .stride = {1 + small(3), 1 + small(3)},
        .dilation = {small(4), small(3)},
        .bias = small(2) == 0};
    const auto node = NodeOf(config, rng);
    if (!node.ok()) continue;  // The kernel does not fit the input.
    SCOPED_TRACE(node->input(0).ToString() + " " + node->output().ToString());
    Check(node, rng);
    ++checked;
  }
}

// However many work-items share the rows of an image, rows at the border of two
// are the same.
TEST(Conv2d1x1DepthwiseNchw16c, Bands) {
  std::mt19937 rng = SeededRng(5);
  std::set<int64_t> bands;
  for (const int cores : {1, 2, 3, 16}) {
    for (const Ints& stride : {Ints{1, 1}, Ints{2, 2}, Ints{1, 3}}) {
      ir::DeviceInfo device = TestDeviceOfLanes(16);
      device.compute_units = cores;
      SCOPED_TRACE(StrCat(cores, " cores, stride ", stride[1]));
      const auto node = NodeOf(
          {.input = {5, 61, 20, 1}, .channels = 20, .stride = stride}, rng);
      Check(node, rng, device);
      const auto launches = LaunchesOf(*node, kKernel, device);
      ASSERT_OK(launches);
      ASSERT_EQ(launches->size(), 1u);
      bands.insert((*launches)[0].range.global[0]);
    }
  }
  EXPECT_THAT(bands, ::testing::Contains(::testing::Ge(16)));
}

// Cores share the rows of a large image, and the channels of a small one: there
// they would make too many rows twice.
TEST(Conv2d1x1DepthwiseNchw16c, SharesPlaces) {
  std::mt19937 rng = SeededRng(6);
  ir::DeviceInfo device = TestDevice();
  device.compute_units = 4;
  const auto spatial_partition = [&](const Config& config) {
    const auto node = NodeOf(config, rng);
    EXPECT_OK(node);
    const auto launches = LaunchesOf(*node, kKernel, device);
    EXPECT_OK(launches);
    return (*launches)[0].spatial_partition;
  };
  EXPECT_TRUE(spatial_partition({.input = {56, 56, 24, 1}, .channels = 144}));
  EXPECT_FALSE(spatial_partition({.input = {7, 7, 160, 1}, .channels = 960}));
  // More weights than pixels.
  EXPECT_FALSE(spatial_partition(
      {.input = {4, 20, 64, 1}, .channels = 960, .stride = {1, 3}}));
}

TEST(Conv2d1x1DepthwiseNchw16c, BiasesAndLimits) {
  std::mt19937 rng = SeededRng(7);
  Sample sample(5);
  for (const bool inner_bias : {false, true}) {
    for (const bool bias : {false, true}) {
      for (const char* inner_limit : {"", "tim.Relu", "tim.Relu6"}) {
        for (const char* limit : {"", "tim.Relu", "tim.Relu6"}) {
          if (!sample.Takes()) continue;
          SCOPED_TRACE(
              StrCat(inner_bias, " ", inner_limit, " ", bias, " ", limit));
          Check(NodeOf({.input = {9, 6, 20, 2},
                        .channels = 20,
                        .inner_bias = inner_bias,
                        .bias = bias,
                        .inner_limit = inner_limit,
                        .limit = limit},
                       rng),
                rng);
        }
      }
    }
  }
}

// The sums have the order that the two kernels have alone.
TEST(Conv2d1x1DepthwiseNchw16c, SameBitsAsTwoKernels) {
  std::mt19937 rng = SeededRng(8);
  const Config config = {.input = {28, 28, 40, 1}, .channels = 48};
  const TensorData weights = RandomTensor(config.weights(), rng);
  const TensorData taps = RandomTensor(config.taps(), rng);
  const auto inner = MakeNode("tim.Conv2d", Conv2dAttributes(kAuto),
                              {F32(config.input), config.weights(), F32({48})},
                              {Inferred()}, {{1, weights}});
  ASSERT_OK(inner);
  const ir::AttributeMap attributes =
      Conv2dAttributes(kSame, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1);
  const auto outer = MakeNode("tim.Conv2d", attributes,
                              {inner->output(), config.taps(), F32({48})},
                              {Inferred()}, {{1, taps}});
  ASSERT_OK(outer);
  const auto both = Fuse(*inner, "tim.Conv2d", attributes,
                         {config.taps(), F32({48})}, Inferred(), {{0, taps}});
  ASSERT_OK(both);
  const std::vector<TensorData> inputs = RandomInputs(*both, rng);
  const auto expanded =
      RunKernel(*inner, "conv2d_nchw16c", 0, {inputs[0], inputs[1]});
  ASSERT_OK(expanded);
  const auto expected = RunKernel(*outer, "conv2d_depthwise_nchw16c", 0,
                                  {(*expanded)[0], inputs[2]});
  ASSERT_OK(expected);
  const auto actual = RunKernel(*both, kKernel, 0, inputs);
  ASSERT_OK(actual);
  EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], Tolerance{}));
}

TEST(Conv2d1x1DepthwiseNchw16c, TailLanesStayZero) {
  std::mt19937 rng = SeededRng(9);
  const auto node =
      NodeOf({.input = {4, 4, 16, 1}, .channels = 20, .inner_limit = ""}, rng);
  ASSERT_OK(node);
  std::vector<TensorData> inputs = RandomInputs(*node, rng);
  inputs[0] = MakeTensor(
      F32({4, 4, 16, 1}),
      std::vector<float>(256, std::numeric_limits<float>::infinity()));
  // The runner fails where a tail lane is not 0.
  EXPECT_OK(RunKernel(*node, kKernel, 0, inputs));
}

TEST(Conv2d1x1DepthwiseNchw16c, RefusesWithReason) {
  std::mt19937 rng = SeededRng(10);
  const auto refusal = [](const Result<TestNode>& node) {
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  const Config config = {.input = {9, 9, 20, 1}, .channels = 32};
  EXPECT_ERROR(refusal(InnerOf(config, rng)),
               "no depthwise convolution follows");
  const TensorDesc expanded = F32({9, 9, 32, 1});
  const auto inner = InnerOf(config, rng);
  ASSERT_OK(inner);
  const ir::AttributeMap depthwise =
      Conv2dAttributes(kSame, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1);
  const TensorDesc dense = F32({1, 1, 32, 32});
  EXPECT_ERROR(
      refusal(Fuse(*inner, "tim.Conv2d", Conv2dAttributes(kAuto), {dense},
                   expanded, {{0, RandomTensor(dense, rng)}})),
      "one input and one output channel");
  EXPECT_ERROR(
      refusal(NodeOf({.input = {300, 9, 20, 1}, .kernel = {3, 4}}, rng)),
      "a row of the output needs 4 rows of 300 pixels, at most 1024");
  EXPECT_ERROR(
      refusal(NodeOf(
          {.input = {200, 3, 16, 1}, .kernel = {4, 1}, .dilation = {40, 1}},
          rng)),
      "at most 64 are kept");
  const auto plain = NodeOf(config, rng);
  ASSERT_OK(plain);
  EXPECT_ERROR(Supports(*plain, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices; this one takes kernels of class gpu");
}

TEST(Conv2d1x1DepthwiseNchw16c, RefusesOtherSteps) {
  std::mt19937 rng = SeededRng(11);
  const Config config = {.input = {9, 9, 20, 1}, .channels = 32};
  const TensorDesc expanded = F32({9, 9, 32, 1});
  const TensorDesc channels = F32({1, 1, 32});
  const ir::AttributeMap depthwise =
      Conv2dAttributes(kSame, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1);
  const auto follow = [&](const Result<TestNode>& node) {
    EXPECT_OK(node);
    return Fuse(*node, "tim.Conv2d", depthwise, {config.taps()}, Inferred(),
                {{0, RandomTensor(config.taps(), rng)}});
  };
  const auto refusal = [](const Result<TestNode>& node) {
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  // A first convolution that is not 1x1, or steps over pixels.
  for (const Ints& stride : {Ints{1, 1}, Ints{2, 2}}) {
    const int64_t edge = stride[0] == 1 ? 3 : 1;
    const TensorDesc weights = F32({edge, edge, 20, 32});
    EXPECT_ERROR(
        refusal(follow(MakeNode("tim.Conv2d",
                                Conv2dAttributes(kSame, {0, 0, 0, 0}, stride),
                                {F32(config.input), weights}, {Inferred()},
                                {{1, RandomTensor(weights, rng)}}))),
        "the first convolution must be 1x1 with stride 1");
  }
  // What is added to a channel, before or after.
  Config linear = config;
  linear.inner_limit = linear.limit = "";
  const auto inner = InnerOf(linear, rng);
  ASSERT_OK(inner);
  EXPECT_ERROR(
      refusal(follow(Fuse(*inner, "tim.Add", {}, {channels}, expanded))),
      "a fused Add beside two Conv2d");
  const auto both = NodeOf(linear, rng);
  ASSERT_OK(both);
  EXPECT_ERROR(refusal(Fuse(*both, "tim.Add", {}, {channels}, expanded)),
               "a fused Add beside two Conv2d");
  EXPECT_ERROR(refusal(Fuse(*both, "tim.Add", {}, {expanded}, expanded)),
               "one value for each channel");
  // The values between the convolutions as weights of the second.
  EXPECT_ERROR(refusal(follow(follow(inner))),
               "a fused Conv2d, which has no formula");
}

}  // namespace
}  // namespace tim::testing
