#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "conv2d_nchw16c_i8";

// In the device's own form.
Status CheckOnce(const CodeConvolution& convolution, const CodeTypes& types,
                 std::mt19937& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(convolution, types, rng));
  return CheckCodes(node, kKernel, TestDevice(), rng);
}

// In all forms.
Status Check(const CodeConvolution& convolution, const CodeTypes& types,
             std::mt19937& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(convolution, types, rng));
  return CheckCodes(node, kKernel, rng).WithContext(types.ToString());
}

TEST(Conv2dNchw16cI8, AllTypes) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(3);
  for (const CodeTypes& types : AllCodeTypes()) {
    if (!sample.Takes()) continue;
    EXPECT_OK(
        Check({.input = {9, 4, 20, 2}, .kernel = {3, 3, 20, 37}}, types, rng));
  }
}

// Padding and channels that do not exist are the zero point, whatever it is.
TEST(Conv2dNchw16cI8, ExtremeZeroPoints) {
  std::mt19937 rng = SeededRng(2);
  Sample sample(3);
  for (const CodeTypes& types : ExtremeZeroPoints()) {
    if (!sample.Takes()) continue;
    EXPECT_OK(
        Check({.input = {5, 4, 19, 1}, .kernel = {3, 3, 19, 18}}, types, rng));
  }
}

TEST(Conv2dNchw16cI8, ExtremeCodes) {
  EXPECT_OK(CheckExtremeCodes(
      {.input = {5, 3, 64, 1}, .kernel = {3, 3, 64, 16}}, kKernel, DotForms()));
}

TEST(Conv2dNchw16cI8, FixedPoint) {
  std::mt19937 rng = SeededRng(3);
  const auto node = FixedPointNode(rng);
  ASSERT_OK(node);
  EXPECT_OK(CheckCodes(*node, kKernel, rng));
}

// What a bias of other units or of a float type adds is rounded.
TEST(Conv2dNchw16cI8, BiasOfAnyType) {
  std::mt19937 rng = SeededRng(4);
  const CodeConvolution config = {.input = {6, 3, 16, 1},
                                  .kernel = {1, 1, 16, 20}};
  const TensorDesc input = Desc(DataType::kUint8, config.input, 0.02f, 3);
  const TensorDesc weights = WeightsOf(config, kUnsignedCodes);
  const TensorDesc other = Desc(DataType::kInt32, {20}, 0.003f, 5);
  for (const auto& [bias, data] :
       {std::pair(other, MakeTensor(other, std::vector<int32_t>(20, 300))),
        std::pair(F32({20}), RandomTensor(F32({20}), rng)),
        std::pair(Desc(DataType::kFloat16, {20}),
                  RandomTensor(Desc(DataType::kFloat16, {20}), rng))}) {
    SCOPED_TRACE(bias.ToString());
    const auto node =
        MakeNode("tim.Conv2d", config.attributes(), {input, weights, bias},
                 {OutputOf(config, kUnsignedCodes)},
                 {{1, RandomTensor(weights, rng)}, {2, data}});
    ASSERT_OK(node);
    EXPECT_OK(CheckCodes(*node, kKernel, rng));
  }
}

TEST(Conv2dNchw16cI8, ChannelTails) {
  std::mt19937 rng = SeededRng(5);
  Sample sample(3);
  for (const int64_t ic : {1, 3, 5, 16, 17, 33, 67}) {
    for (const int64_t oc : {1, 17, 48, 67}) {
      if (!sample.Takes()) continue;
      EXPECT_OK(CheckOnce({.input = {9, 3, ic, 2}, .kernel = {3, 2, ic, oc}},
                          oc % 2 == 0 ? kUnsignedCodes : kSignedCodes, rng))
          << ic << " to " << oc;
    }
  }
}

TEST(Conv2dNchw16cI8, Extents) {
  std::mt19937 rng = SeededRng(6);
  for (const int64_t width : {1, 2, 7, 13, 14, 15, 31, 66}) {
    for (const int64_t height : {1, 4}) {
      EXPECT_OK(
          CheckOnce({.input = {width, height, 16, 1}, .kernel = {3, 3, 16, 32}},
                    kUnsignedCodes, rng))
          << width << " x " << height;
    }
  }
  // A column is made as a row.
  EXPECT_OK(CheckOnce({.input = {1, 37, 20, 2}, .kernel = {1, 5, 20, 33}},
                      kUnsignedCodes, rng));
}

// A dense input of few channels is read where it is.
TEST(Conv2dNchw16cI8, FewChannels) {
  std::mt19937 rng = SeededRng(7);
  Sample sample(3);
  for (const int64_t channels : {1, 3, 7, 15}) {
    for (const int64_t stride : {1, 2}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(channels, " channels, stride ", stride));
      const auto node =
          NodeOf({.input = {37, 9, channels, 2},
                  .kernel = {7, 5, channels, 20},
                  .stride = {stride, stride}},
                 stride == 1 ? kUnsignedCodes : kSignedCodes, rng);
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, kKernel), 2);
      EXPECT_OK(CheckCodes(*node, kKernel, rng));
    }
  }
}

// Rows of less than a vector, of one, and of some that end inside of one.
TEST(Conv2dNchw16cI8, EdgesOfFewChannels) {
  std::mt19937 rng = SeededRng(21);
  for (const int64_t width : {3, 15, 16, 17, 40}) {
    EXPECT_OK(CheckOnce({.input = {width, 4, 3, 1},
                         .kernel = {3, 3, 3, 20},
                         .padding = 0,
                         .pad = {17, 2, 1, 1}},
                        kSignedCodes, rng))
        << width;
  }
}

TEST(Conv2dNchw16cI8, PointwiseImages) {
  std::mt19937 rng = SeededRng(8);
  Sample sample(5);
  CodeTypes centered = kUnsignedCodes;
  centered.weights = DataType::kInt8;
  centered.weights_zero = 0;
  for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes, centered}) {
    for (const Ints& image : {Ints{7, 7}, Ints{1, 1}, Ints{5, 3}}) {
      for (const int64_t stride : {1, 2}) {
        if (!sample.Takes()) continue;
        EXPECT_OK(CheckOnce({.input = {image[0], image[1], 33, 2},
                             .kernel = {1, 1, 33, 50},
                             .stride = {stride, stride}},
                            types, rng));
      }
    }
  }
}

// Of whole blocks, of several to a block, and across blocks.
TEST(Conv2dNchw16cI8, Groups) {
  std::mt19937 rng = SeededRng(9);
  Sample sample(3);
  struct Case {
    int64_t groups;
    Ints kernel;
  };
  for (const auto& [groups, kernel] :
       {Case{4, {3, 3, 16, 64}}, Case{2, {3, 3, 32, 96}},
        Case{8, {3, 1, 4, 32}}, Case{4, {1, 1, 3, 40}}, Case{2, {2, 2, 8, 16}},
        Case{2, {3, 3, 24, 40}}, Case{32, {3, 3, 1, 64}}}) {
    for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
      if (!sample.Takes()) continue;
      EXPECT_OK(
          Check({.input = {6, 5, kernel[2] * groups, 1}, .kernel = kernel},
                types, rng))
          << groups << " groups of " << kernel[2];
    }
  }
}

TEST(Conv2dNchw16cI8, DepthwiseMultipliers) {
  std::mt19937 rng = SeededRng(10);
  for (const int64_t multiplier : {1, 2, 3}) {
    const int64_t outputs = 21 * multiplier;
    for (const Ints& last : {Ints{1, outputs}, Ints{outputs, 1}}) {
      EXPECT_OK(CheckOnce({.input = {6, 5, 21, 1},
                           .kernel = {3, 3, last[0], last[1]},
                           .multiplier = multiplier},
                          kUnsignedCodes, rng));
    }
  }
}

TEST(Conv2dNchw16cI8, StridesPadsAndDilations) {
  EXPECT_OK(CheckRandomExtents(kKernel, TestDevice(),
                               {.inputs = 67, .outputs = 67}, 11));
}

TEST(Conv2dNchw16cI8, DeclaredExtents) {
  EXPECT_OK(CheckDeclaredExtents(kKernel, TestDevice(), 12));
}

TEST(Conv2dNchw16cI8, TilesOfEveryVectorWidth) {
  std::mt19937 rng = SeededRng(13);
  for (const int lanes : {4, 8}) {
    ir::DeviceInfo device = TestDeviceOfLanes(lanes);
    device.has_vnni = device.has_amx = false;
    for (const int64_t width : {3, 14}) {
      const auto node =
          NodeOf({.input = {width, 5, 20, 1}, .kernel = {3, 3, 20, 37}},
                 kUnsignedCodes, rng);
      ASSERT_OK(node);
      EXPECT_OK(CheckCodes(*node, kKernel, device, rng));
    }
  }
}

TEST(Conv2dNchw16cI8, RoundsTowardsZeroIfAsked) {
  std::mt19937 rng = SeededRng(14);
  const CodeConvolution config = {.input = {6, 5, 16, 1},
                                  .kernel = {3, 3, 16, 16}};
  const TensorDesc weights = WeightsOf(config, kSignedCodes);
  AttributeMap attributes = config.attributes();
  attributes.Set(ir::kRoundingPolicy, int64_t{0});
  const auto node = MakeNode(
      "tim.Conv2d", attributes,
      {Desc(DataType::kInt8, config.input, 0.02f, -9), weights},
      {OutputOf(config, kSignedCodes)}, {{1, RandomTensor(weights, rng)}});
  ASSERT_OK(node);
  EXPECT_OK(CheckCodes(*node, kKernel, rng));
}

// Limits of codes, whatever the channels that do not exist would give.
TEST(Conv2dNchw16cI8, FusedActivations) {
  EXPECT_OK(CheckFusedLimits({.input = {9, 6, 5, 2}, .kernel = {3, 3, 5, 20}},
                             kKernel, DotForms(), 15));
}

TEST(Conv2dNchw16cI8, LargeSums) {
  EXPECT_OK(CheckLargeSums(kKernel, DotForms()));
}

// Plain codes whose sums themselves are the result, as ConvInteger has them.
Result<TestNode> TotalsOf(const CodeConvolution& convolution, DataType input,
                          DataType weights, bool constant, std::mt19937& rng) {
  const TensorDesc kernel = Desc(weights, convolution.kernel);
  std::map<int, TensorData> constants;
  if (constant) constants[1] = RandomTensor(kernel, rng);
  return MakeNode("tim.Conv2d", convolution.attributes(),
                  {Desc(input, convolution.input), kernel},
                  {Inferred(DataType::kInt32)}, constants);
}

TEST(Conv2dNchw16cI8Totals, AreStoredAsTheyAre) {
  std::mt19937 rng = SeededRng(31);
  Sample sample(3);
  for (const CodeConvolution& config :
       {CodeConvolution{.input = {17, 5, 20, 2}, .kernel = {3, 3, 20, 37}},
        CodeConvolution{.input = {9, 8, 3, 1},
        .kernel = {5, 3, 3, 18},
        .padding = 0,
        .pad = {1, 2, 0, 1},
        .stride = {2, 1},
        .dilation = {1, 2}},
        CodeConvolution{.input = {6, 5, 32, 1}, .kernel = {3, 3, 16, 8}}}) {
    for (const DataType input : {DataType::kUint8, DataType::kInt8}) {
      for (const DataType weights : {DataType::kUint8, DataType::kInt8}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(ir::ToString(input), " ", ir::ToString(weights),
                            " ", config.kernel[2], " channels"));
        const auto node = TotalsOf(config, input, weights, true, rng);
        ASSERT_OK(node);
        EXPECT_OK(weights == DataType::kInt8
                      ? CheckCodes(*node, kKernel, TestDevice(), rng)
                      : CheckCodes(*node, kKernel, rng));
      }
    }
  }
}

TEST(Conv2dNchw16cI8Totals, RefusesWithReason) {
  std::mt19937 rng = SeededRng(32);
  const auto refusal = [&](int64_t channels, DataType input, bool constant) {
    const auto node =
        TotalsOf({.input = {4, 3, channels, 1}, .kernel = {1, 1, channels, 4}},
                 input, DataType::kInt8, constant, rng);
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  EXPECT_OK(refusal(8, DataType::kUint8, true));
  EXPECT_ERROR(refusal(8, DataType::kInt16, true),
               "factors must be int8 or uint8, not int16");
  EXPECT_ERROR(refusal(8, DataType::kUint8, false),
               "the weights are not constant");
}

TEST(Conv2dNchw16cI8, RefusesWithReason) {
  std::mt19937 rng = SeededRng(17);
  const CodeConvolution config = {.input = {4, 3, 8, 1},
                                  .kernel = {1, 1, 8, 4}};
  const auto refusal = [&](const TensorDesc& input, const TensorDesc& output,
                           bool constant, AttributeMap attributes = {}) {
    const TensorDesc weights = WeightsOf(config, kUnsignedCodes);
    std::map<int, TensorData> constants;
    if (constant) constants[1] = RandomTensor(weights, rng);
    const auto node = MakeNode("tim.Conv2d", std::move(attributes),
                               {input, weights}, {output}, constants);
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  const TensorDesc input = Desc(DataType::kUint8, config.input, 0.02f, 3);
  const TensorDesc output = OutputOf(config, kUnsignedCodes);
  EXPECT_OK(refusal(input, output, true));
  EXPECT_ERROR(refusal(input, Inferred(), true),
               "must be int8 or uint8, not float32");
  EXPECT_ERROR(
      refusal(Desc(DataType::kInt16, config.input, 0.02f, 3), output, true),
      "must be int8 or uint8, not int16");
  EXPECT_ERROR(
      refusal(Desc(DataType::kUint8, config.input, 0.02f, 256), output, true),
      "input 0's zero point 256 is no code of uint8");
  EXPECT_ERROR(
      refusal(input, output, true, {{ir::kOverflowPolicy, int64_t{0}}}),
      "results that wrap");
  const auto plain = NodeOf(config, kUnsignedCodes, rng);
  ASSERT_OK(plain);
  EXPECT_ERROR(Supports(*plain, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices; this one takes kernels of class gpu");
  const auto wide = NodeOf(
      {.input = {900, 1, 16, 1}, .kernel = {4, 1, 16, 16}, .dilation = {99, 1}},
      kUnsignedCodes, rng);
  ASSERT_OK(wide);
  EXPECT_ERROR(Supports(*wide, kKernel), "at most 256 are kept");
}

}  // namespace
}  // namespace tim::testing
