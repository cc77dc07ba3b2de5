#include <gtest/gtest.h>

#include <array>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "conv2d_depthwise_nchw16c_i8";

// Most of the time goes by for programs, one for each pair of types, form of
// the products, tile width, kernel width, stride and dilation along W: what
// tests something else has rows of this many pixels and 3 x 3 kernels.
constexpr int64_t kWidth = 12;

// One output channel for each input channel.
CodeConvolution Depthwise(const Ints& input, int64_t width, int64_t height) {
  return {
      .input = input, .kernel = {width, height, input[2], 1}, .multiplier = 1};
}

Status Check(const CodeConvolution& convolution, const CodeTypes& types,
             std::mt19937& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(convolution, types, rng));
  return CheckCodes(node, kKernel, rng)
      .WithContext(StrCat(types.ToString(), " ", node.input(0).ToString()));
}

TEST(Conv2dDepthwiseNchw16cI8, AllTypes) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(3);
  for (CodeTypes types : ExtremeZeroPoints()) {
    if (!sample.Takes()) continue;
    types.per_channel = types.input_zero == 0;
    EXPECT_OK(Check(Depthwise({kWidth, 5, 21, 2}, 3, 3), types, rng));
  }
}

TEST(Conv2dDepthwiseNchw16cI8, Extents) {
  std::mt19937 rng = SeededRng(2);
  Sample sample(2);
  for (const int64_t channels : {1, 15, 16, 17, 33, 67}) {
    for (const int64_t width : {int64_t{1}, kWidth, int64_t{31}}) {
      if (!sample.Takes()) continue;
      EXPECT_OK(
          Check(Depthwise({width, 4, channels, 1}, 3, 3), kUnsignedCodes, rng));
    }
  }
}

// What a program is made for; all else is drawn.
struct Row {
  int64_t width;
  int64_t kernel;
  int64_t stride;
  int64_t dilation;
  int64_t padding;
  int64_t pads;  // left and right together
  CodeTypes types;
};

TEST(Conv2dDepthwiseNchw16cI8, StridesPadsAndDilations) {
  std::mt19937 rng = SeededRng(3);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const Row rows[] = {
      {13, 6, 1, 1, kAuto, 4, kUnsignedCodes},
      {18, 4, 3, 2, kAuto, 7, kSignedCodes},
      {9, 2, 1, 3, kSame, 0, kUnsignedCodes},
      {23, 5, 2, 3, kValid, 0, kSignedCodes},
      {7, 1, 3, 0, kAuto, 1, kUnsignedCodes},
  };
  for (const Row& row : rows) {
    int checked = 0;
    while (checked < 4) {
      CodeConvolution config =
          Depthwise({row.width, 1 + small(9), 1 + small(40), 1 + small(2)},
                    row.kernel, 1 + small(5));
      const int64_t left = small(row.pads + 1);
      config.padding = row.padding;
      config.pad = {left, row.pads - left, small(5), small(5)};
      config.stride = {row.stride, 1 + small(3)};
      config.dilation = {row.dilation, small(3)};
      const auto node = NodeOf(config, row.types, rng);
      if (!node.ok()) continue;  // The kernel does not fit the input.
      EXPECT_OK(CheckCodes(*node, kKernel, rng))
          << config.attributes().ToString() << " " << node->input(0).ToString()
          << " " << node->input(1).ToString();
      ++checked;
    }
  }
}

// Weights that fit 8 bits, less their zero point.
TEST(Conv2dDepthwiseNchw16cI8, QuadsOfPixels) {
  std::mt19937 rng = SeededRng(6);
  CodeTypes centred = kUnsignedCodes;
  centred.weights_zero = 128;
  for (int64_t kernel = 1; kernel <= 5; ++kernel) {
    for (const int64_t stride : {1, 2}) {
      const int64_t width =
          std::array<int64_t, 3>{5, kWidth, 17}[(kernel + stride) % 3];
      CodeConvolution config = Depthwise({width, 5, 21, 2}, kernel, 3);
      config.stride = {stride, 3 - stride};
      config.dilation = {1, stride};
      const CodeTypes& types = kernel % 2 == 0 ? centred : kSignedCodes;
      const auto node = NodeOf(config, types, rng);
      ASSERT_OK(node);
      // In the one form that this device has quads in.
      EXPECT_OK(CheckCodes(*node, kKernel, TestDevice(), rng))
          << kernel << " by " << stride;
    }
  }
}

// One core has few items, so that they take several rows, the last one fewer.
TEST(Conv2dDepthwiseNchw16cI8, SeveralRowsToAnItem) {
  std::mt19937 rng = SeededRng(7);
  for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
    const auto node = NodeOf(Depthwise({kWidth, 9, 67, 8}, 3, 3), types, rng);
    ASSERT_OK(node);
    for (ir::DeviceInfo device : DotForms()) {
      device.compute_units = 1;
      EXPECT_OK(CheckCodes(*node, kKernel, device, rng)) << types.ToString();
    }
  }
}

TEST(Conv2dDepthwiseNchw16cI8, FusedActivations) {
  std::mt19937 rng = SeededRng(4);
  for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
    auto node = NodeOf(Depthwise({kWidth, 6, 20, 2}, 3, 5), types, rng);
    ASSERT_OK(node);
    const TensorDesc output = node->output();
    node = Fuse(*node, "tim.Relu6", {}, {}, output);
    ASSERT_OK(node);
    EXPECT_OK(CheckCodes(*node, kKernel, rng));
  }
}

TEST(Conv2dDepthwiseNchw16cI8, RefusesWithReason) {
  std::mt19937 rng = SeededRng(5);
  const auto groups = NodeOf({.input = {4, 4, 8, 1}, .kernel = {3, 3, 2, 8}},
                             kUnsignedCodes, rng);
  ASSERT_OK(groups);
  EXPECT_ERROR(Supports(*groups, kKernel), "one input and one output channel");
  CodeConvolution wide = Depthwise({300, 1, 16, 1}, 3, 1);
  wide.dilation = {40, 1};
  const auto node = NodeOf(wide, kUnsignedCodes, rng);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kKernel), "at most 64 are kept");
}

}  // namespace
}  // namespace tim::testing
