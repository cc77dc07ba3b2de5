// Depthwise convolutions of 8-bit codes for GPUs, which the device of the tests
// runs whatever its class.
#include <gtest/gtest.h>

#include <utility>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;

constexpr char kKernel[] = "conv2d_depthwise_simt_i8";

const ir::DeviceInfo& Gpu() {
  static const ir::DeviceInfo gpu = TestDevice(ir::DeviceClass::kGpu);
  return gpu;
}

Status Check(const CodeConvolution& convolution, const CodeTypes& types,
             std::mt19937& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(convolution, types, rng));
  return CheckCodes(node, kKernel, Gpu(), rng).WithContext(types.ToString());
}

TEST(Conv2dDepthwiseSimtI8, AllTypes) {
  std::mt19937 rng = SeededRng(1);
  for (const CodeTypes& types : AllCodeTypes()) {
    EXPECT_OK(
        Check({.input = {9, 6, 7, 2}, .kernel = {3, 3, 7, 1}, .multiplier = 1},
              types, rng));
  }
}

TEST(Conv2dDepthwiseSimtI8, ExtremeZeroPoints) {
  std::mt19937 rng = SeededRng(2);
  for (const CodeTypes& types : ExtremeZeroPoints()) {
    EXPECT_OK(
        Check({.input = {5, 4, 6, 1}, .kernel = {3, 3, 6, 1}, .multiplier = 1},
              types, rng));
  }
}

TEST(Conv2dDepthwiseSimtI8, HeightsAndWidths) {
  std::mt19937 rng = SeededRng(3);
  for (const int64_t width : {1, 31, 32, 33}) {
    for (const int64_t height : {1, 3, 4, 5, 9}) {
      EXPECT_OK(Check({.input = {width, height, 5, 2},
                       .kernel = {3, 3, 5, 1},
                       .multiplier = 1},
                      height % 2 == 0 ? kSignedCodes : kUnsignedCodes, rng))
          << width << " x " << height;
    }
  }
}

TEST(Conv2dDepthwiseSimtI8, StridesPadsDilationsAndMultipliers) {
  std::mt19937 rng = SeededRng(4);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  int checked = 0;
  while (checked < 25) {
    const int64_t channels = 1 + small(33);
    const int64_t multiplier = 1 + small(3);
    const bool flat = small(2) == 0;  // [W, H, 1, C * m] or [W, H, C * m, 1]
    const int64_t outputs = channels * multiplier;
    const CodeConvolution config = {
        .input = {1 + small(30), 1 + small(12), channels, 1 + small(2)},
        .kernel = {1 + small(5), 1 + small(5), flat ? 1 : outputs,
                   flat ? outputs : 1},
        .padding = small(4) - 1,
        .pad = {small(5), small(5), small(5), small(5)},
        .stride = {1 + small(3), 1 + small(3)},
        .dilation = {small(4), small(3)},
        .multiplier = multiplier};
    CodeTypes types = small(2) == 0 ? kUnsignedCodes : kSignedCodes;
    types.bias = small(2) == 0;
    const auto node = NodeOf(config, types, rng);
    if (!node.ok()) continue;  // The kernel does not fit the input.
    EXPECT_OK(CheckCodes(*node, kKernel, Gpu(), rng))
        << config.attributes().ToString() << " " << node->input(0).ToString()
        << " " << node->input(1).ToString();
    ++checked;
  }
}

TEST(Conv2dDepthwiseSimtI8, FusedActivations) {
  EXPECT_OK(CheckFusedLimits(
      {.input = {9, 6, 5, 2}, .kernel = {3, 3, 5, 1}, .multiplier = 1}, kKernel,
      {Gpu()}, 5));
}

TEST(Conv2dDepthwiseSimtI8, RefusesWithReason) {
  std::mt19937 rng = SeededRng(6);
  const CodeConvolution config = {
      .input = {4, 3, 8, 1}, .kernel = {1, 1, 8, 1}, .multiplier = 1};
  const auto node = NodeOf(config, kUnsignedCodes, rng);
  ASSERT_OK(node);
  EXPECT_OK(Supports(*node, kKernel, Gpu()));
  EXPECT_ERROR(Supports(*node, kKernel, TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  const auto dense = NodeOf({.input = {3, 3, 4, 1}, .kernel = {1, 1, 2, 4}},
                            kUnsignedCodes, rng);
  ASSERT_OK(dense);
  EXPECT_ERROR(Supports(*dense, kKernel, Gpu()),
               "a group must have one input channel, not 2");
  const auto tall = NodeOf({.input = {1, 200, 1, 1},
                            .kernel = {1, 4, 1, 1},
                            .dilation = {1, 40},
                            .multiplier = 1},
                           kUnsignedCodes, rng);
  ASSERT_OK(tall);
  EXPECT_ERROR(Supports(*tall, kKernel, Gpu()),
               "a pixel spans 121 input rows, at most 32 are kept");
}

}  // namespace
}  // namespace tim::testing
