// Convolutions for GPUs, conv2d_simt and conv2d_depthwise_simt, which the
// device of the tests runs whatever its class.
#include <gtest/gtest.h>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kGroups[] = "conv2d_simt";
constexpr char kDepthwise[] = "conv2d_depthwise_simt";
// Sums of up to some hundred products in another order than eval's.
constexpr Tolerance kTolerance = {1e-4, 1e-5};

// A GPU with so many compute units that the tiles become small, or so few that
// they become large.
ir::DeviceInfo Gpu(int units = 2) {
  ir::DeviceInfo gpu = TestDevice(ir::DeviceClass::kGpu);
  gpu.compute_units = units;
  return gpu;
}

struct Config {
  Ints input;   // W, H, C, N
  Ints kernel;  // W, H, Ic, Oc
  int64_t padding = kAuto;
  Ints pad = {0, 0, 0, 0};
  Ints stride = {1, 1};
  Ints dilation = {1, 1};
  int64_t multiplier = 0;
  bool bias = true;
};

Result<TestNode> NodeOf(const Config& config) {
  std::vector<std::optional<TensorDesc>> inputs = {F32(config.input),
                                                   F32(config.kernel)};
  if (config.bias) {
    inputs.push_back(
        F32({config.multiplier > 0 ? config.input[2] * config.multiplier
                                   : config.kernel[3]}));
  }
  return MakeNode("tim.Conv2d",
                  Conv2dAttributes(config.padding, config.pad, config.stride,
                                   config.dilation, config.multiplier),
                  inputs, {Inferred()});
}

void Check(const Result<TestNode>& node, const char* kernel, std::mt19937& rng,
           const ir::DeviceInfo& device = Gpu()) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kernel, device));
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    const auto actual = RunKernel(*node, kernel, 0, inputs, device);
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], kTolerance));
  }
}

TEST(Conv2dSimt, ChannelsThatDoNotFillATile) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(3);
  for (const int64_t ic : {1, 3, 31, 33}) {
    for (const int64_t oc : {1, 31, 32, 33, 65}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(ic, " to ", oc));
      Check(NodeOf({.input = {9, 5, ic, 2},
                    .kernel = {3, 3, ic, oc},
                    .padding = kSame}),
            kGroups, rng);
    }
  }
}

TEST(Conv2dSimt, PixelsThatDoNotFillATile) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t width : {1, 31, 32, 33, 65}) {
    for (const int64_t batch : {1, 3}) {
      SCOPED_TRACE(StrCat(width, " x 3, ", batch));
      Check(NodeOf({.input = {width, 3, 5, batch}, .kernel = {1, 1, 5, 7}}),
            kGroups, rng);
    }
  }
}

TEST(Conv2dSimt, TilesOfEverySize) {
  std::mt19937 rng = SeededRng(3);
  for (const int units : {1, 4, 8, 16, 100}) {
    for (const Ints& sizes :
         {Ints{9, 9, 70}, Ints{13, 13, 20}, Ints{4, 4, 80}}) {
      SCOPED_TRACE(StrCat(units, " units, ", sizes[0], " ", sizes[2]));
      Check(NodeOf({.input = {sizes[0], sizes[1], 6, 1},
                    .kernel = {3, 3, 6, sizes[2]},
                    .padding = kSame}),
            kGroups, rng, Gpu(units));
    }
  }
}

TEST(Conv2dSimt, StridesPadsDilationsAndGroups) {
  std::mt19937 rng = SeededRng(4);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const int cases = RunsLongTests() ? 25 : 9;
  int checked = 0;
  while (checked < cases) {
    const int64_t groups = 1 + small(3);
    const int64_t ic = 1 + small(9);
    const Config config = {
        .input = {1 + small(40), 1 + small(9), ic * groups, 1 + small(2)},
        .kernel = {1 + small(7), 1 + small(5), ic, groups * (1 + small(40))},
        .padding = small(4) - 1,
        .pad = {small(5), small(5), small(5), small(5)},
        .stride = {1 + small(3), 1 + small(3)},
        .dilation = {small(4), small(3)},
        .bias = small(2) == 0};
    const auto node = NodeOf(config);
    if (!node.ok()) continue;  // The kernel does not fit the input.
    SCOPED_TRACE(StrCat(node->input(0).ToString(), " ",
                        node->input(1).ToString(), " -> ",
                        node->output().ToString()));
    Check(node, kGroups, rng);
    ++checked;
  }
}

TEST(Conv2dSimt, DeclaredExtents) {
  std::mt19937 rng = SeededRng(5);
  for (const Ints& output : {Ints{20, 2}, Ints{3, 9}, Ints{1, 1}}) {
    Check(MakeNode("tim.Conv2d", {}, {F32({8, 5, 4, 1}), F32({3, 3, 4, 20})},
                   {F32({output[0], output[1], 20, 1})}),
          kGroups, rng);
  }
}

TEST(Conv2dDepthwiseSimt, HeightsAndWidths) {
  std::mt19937 rng = SeededRng(6);
  Sample sample(3);
  for (const int64_t width : {1, 31, 32, 33}) {
    for (const int64_t height : {1, 3, 4, 5, 9}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(width, " x ", height));
      Check(NodeOf({.input = {width, height, 5, 2},
                    .kernel = {3, 3, 5, 1},
                    .padding = kSame,
                    .multiplier = 1}),
            kDepthwise, rng);
    }
  }
}

TEST(Conv2dDepthwiseSimt, StridesPadsDilationsAndMultipliers) {
  std::mt19937 rng = SeededRng(7);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const int cases = RunsLongTests() ? 25 : 9;
  int checked = 0;
  while (checked < cases) {
    const int64_t channels = 1 + small(33);
    const int64_t multiplier = 1 + small(3);
    const bool flat = small(2) == 0;  // [W, H, 1, C * m] or [W, H, C * m, 1]
    const int64_t outputs = channels * multiplier;
    const Config config = {
        .input = {1 + small(30), 1 + small(12), channels, 1 + small(2)},
        .kernel = {1 + small(5), 1 + small(5), flat ? 1 : outputs,
                   flat ? outputs : 1},
        .padding = small(4) - 1,
        .pad = {small(5), small(5), small(5), small(5)},
        .stride = {1 + small(3), 1 + small(3)},
        .dilation = {small(4), small(3)},
        .multiplier = multiplier,
        .bias = small(2) == 0};
    const auto node = NodeOf(config);
    if (!node.ok()) continue;  // The kernel does not fit the input.
    SCOPED_TRACE(StrCat(node->input(0).ToString(), " ",
                        node->input(1).ToString(), " -> ",
                        node->output().ToString()));
    Check(node, kDepthwise, rng);
    ++checked;
  }
}

void CheckEpilogues(const Config& config, const char* kernel,
                    std::mt19937& rng) {
  const auto plain = NodeOf(config);
  ASSERT_OK(plain);
  const TensorDesc output = plain->output();
  const int64_t channels = output.shape[2];
  Sample sample(5);
  for (const bool add : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(add, " ", residual, " ", activation));
        Result<TestNode> node = *plain;
        if (add)
          node = Fuse(*node, "tim.Add", {}, {F32({1, 1, channels})}, output);
        if (residual) node = Fuse(*node, "tim.Add", {}, {output}, output);
        if (*activation != '\0') node = Fuse(*node, activation, {}, {}, output);
        Check(node, kernel, rng);
      }
    }
  }
}

TEST(Conv2dSimt, FusedEpilogues) {
  std::mt19937 rng = SeededRng(8);
  for (const bool bias : {false, true}) {
    CheckEpilogues({.input = {9, 6, 6, 2},
                    .kernel = {3, 3, 3, 20},
                    .padding = kSame,
                    .bias = bias},
                   kGroups, rng);
    CheckEpilogues({.input = {9, 6, 10, 2},
                    .kernel = {3, 3, 20, 1},
                    .padding = kSame,
                    .multiplier = 2,
                    .bias = bias},
                   kDepthwise, rng);
  }
}

TEST(Conv2dSimt, RefusesWithReason) {
  const auto node =
      NodeOf({.input = {3, 3, 4, 1}, .kernel = {1, 1, 4, 4}, .bias = false});
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kGroups, TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  ir::DeviceInfo device = Gpu();
  device.max_work_group_size = 128;
  EXPECT_ERROR(Supports(*node, kGroups, device),
               "needs work-groups of 16 x 16 items, the device has 128");
  device = Gpu();
  device.max_work_item_sizes = {256, 8, 8};
  EXPECT_ERROR(Supports(*node, kGroups, device), "at most 256 x 8");
  device = Gpu();
  device.local_memory_bytes = 8 << 10;
  EXPECT_ERROR(Supports(*node, kGroups, device),
               "needs 8704 bytes of local memory, the device has 8192");
  const auto half =
      MakeNode("tim.Conv2d", {}, {F32({3, 3, 4, 1}), F32({1, 1, 4, 4})},
               {Inferred(DataType::kFloat16)});
  ASSERT_OK(half);
  EXPECT_ERROR(Supports(*half, kGroups, Gpu()), "must be float32, not float16");
  EXPECT_ERROR(Supports(*half, kDepthwise, Gpu()),
               "must be float32, not float16");
}

TEST(Conv2dDepthwiseSimt, RefusesWithReason) {
  const auto dense =
      NodeOf({.input = {3, 3, 4, 1}, .kernel = {1, 1, 2, 4}, .bias = false});
  ASSERT_OK(dense);
  EXPECT_ERROR(Supports(*dense, kDepthwise, TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  EXPECT_ERROR(Supports(*dense, kDepthwise, Gpu()),
               "a group must have one input channel, not 2");
  const auto tall = NodeOf({.input = {1, 200, 1, 1},
                            .kernel = {1, 4, 1, 1},
                            .dilation = {1, 40},
                            .multiplier = 1});
  ASSERT_OK(tall);
  EXPECT_ERROR(Supports(*tall, kDepthwise, Gpu()),
               "a pixel spans 121 input rows, at most 32 are kept");
}

}  // namespace
}  // namespace tim::testing
