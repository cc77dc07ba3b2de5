#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/data/sum_types.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;

// The values of a float32 convolution through eval.
std::vector<float> Convolve(AttributeMap attributes, Ints input_shape,
                            std::vector<float> input, Ints kernel_shape,
                            std::vector<float> kernel, Ints output_shape) {
  const TensorDesc in = F32(input_shape);
  const TensorDesc weights = F32(kernel_shape);
  const auto node = MakeNode("tim.Conv2d", std::move(attributes), {in, weights},
                             {F32(output_shape)});
  EXPECT_OK(node);
  if (!node.ok()) return {};
  const std::vector<TensorData> inputs = {MakeTensor(in, input),
                                          MakeTensor(weights, kernel)};
  EXPECT_OK(CheckKernels(*node, inputs, {1e-5, 1e-5}));
  const auto result = Eval(*node, inputs);
  EXPECT_OK(result);
  return Values<float>((*result)[0]);
}

std::vector<float> Iota(int count) {
  std::vector<float> out(count);
  for (int i = 0; i < count; ++i) out[i] = static_cast<float>(i + 1);
  return out;
}

TEST(Conv2d, SumsWindow) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid), {3, 3, 1, 1}, Iota(9),
                       {2, 2, 1, 1}, {1, 2, 3, 4}, {2, 2, 1, 1}),
              ElementsAre(1 + 4 + 12 + 20, 2 + 6 + 15 + 24, 4 + 10 + 21 + 32,
                          5 + 12 + 24 + 36));
}

TEST(Conv2d, SameWithEvenKernelPadsBehind) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kSame), {3, 1, 1, 1}, {1, 2, 3},
                       {2, 1, 1, 1}, {1, 10}, {3, 1, 1, 1}),
              ElementsAre(21, 32, 3));
}

TEST(Conv2d, SameAndValidIgnoreExplicitPads) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid, {1, 1, 0, 0}), {3, 1, 1, 1},
                       {1, 2, 3}, {1, 1, 1, 1}, {2}, {3, 1, 1, 1}),
              ElementsAre(2, 4, 6));
  EXPECT_THAT(Convolve(Conv2dAttributes(kSame, {5, 5, 5, 5}), {3, 1, 1, 1},
                       {1, 2, 3}, {3, 1, 1, 1}, {1, 1, 1}, {3, 1, 1, 1}),
              ElementsAre(3, 6, 5));
}

TEST(Conv2d, NonePaddingTakesExplicitPads) {
  EXPECT_THAT(Convolve(Conv2dAttributes(-1, {1, 0, 0, 0}), {2, 1, 1, 1}, {1, 2},
                       {2, 1, 1, 1}, {1, 10}, {2, 1, 1, 1}),
              ElementsAre(10, 21));
}

TEST(Conv2d, PadsAreLeftRightTopBottom) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kAuto, {1, 0, 0, 1}), {1, 1, 1, 1}, {5},
                       {1, 1, 1, 1}, {1}, {2, 2, 1, 1}),
              ElementsAre(0, 5, 0, 0));
}

TEST(Conv2d, StrideSamplesAndDilationSpreads) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid, {0, 0, 0, 0}, {2, 3}),
                       {5, 4, 1, 1}, Iota(20), {1, 1, 1, 1}, {1}, {3, 2, 1, 1}),
              ElementsAre(1, 3, 5, 16, 18, 20));
  EXPECT_THAT(
      Convolve(Conv2dAttributes(kValid, {0, 0, 0, 0}, {1, 1}, {2, 1}),
               {5, 1, 1, 1}, Iota(5), {2, 1, 1, 1}, {1, 10}, {3, 1, 1, 1}),
      ElementsAre(31, 42, 53));
}

TEST(Conv2d, ZeroDilationIsOne) {
  EXPECT_THAT(
      Convolve(Conv2dAttributes(kValid, {0, 0, 0, 0}, {1, 1}, {0, 0}),
               {3, 1, 1, 1}, Iota(3), {2, 1, 1, 1}, {1, 10}, {2, 1, 1, 1}),
      ElementsAre(21, 32));
}

TEST(Conv2d, DeclaredExtentsRule) {
  // One more window than fits reads zeros behind the input.
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid), {2, 1, 1, 1}, {1, 2},
                       {2, 1, 1, 1}, {1, 10}, {2, 1, 1, 1}),
              ElementsAre(21, 2));
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid), {3, 2, 1, 1}, Iota(6),
                       {1, 1, 1, 1}, {1}, {2, 1, 1, 1}),
              ElementsAre(1, 2));
}

TEST(Conv2d, KernelLargerThanInput) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kSame), {2, 1, 1, 1}, {1, 2},
                       {5, 3, 1, 1}, Iota(15), {2, 1, 1, 1}),
              ElementsAre(8 + 2 * 9, 7 + 2 * 8));
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid), {2, 1, 1, 1}, {1, 2},
                       {4, 1, 1, 1}, {1, 10, 100, 1000}, {1, 1, 1, 1}),
              ElementsAre(21));
}

TEST(Conv2d, DepthwiseReadsOneChannel) {
  // Both forms of the kernel; multiplier 2: outputs 0, 1 read channel 0.
  for (const Ints& kernel : {Ints{1, 1, 4, 1}, Ints{1, 1, 1, 4}}) {
    EXPECT_THAT(
        Convolve(Conv2dAttributes(kValid, {0, 0, 0, 0}, {1, 1}, {1, 1}, 2),
                 {1, 1, 2, 1}, {3, 5}, kernel, {1, 2, 3, 4}, {1, 1, 4, 1}),
        ElementsAre(3, 6, 15, 20));
  }
}

TEST(Conv2d, GroupsFollowFromKernel) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid), {1, 1, 4, 1}, {1, 2, 3, 4},
                       {1, 1, 2, 2}, {1, 10, 1, 10}, {1, 1, 2, 1}),
              ElementsAre(21, 43));
}

TEST(Conv2d, BatchesAreIndependent) {
  EXPECT_THAT(Convolve(Conv2dAttributes(kValid), {1, 1, 2, 2}, {1, 2, 3, 4},
                       {1, 1, 2, 1}, {1, 10}, {1, 1, 1, 2}),
              ElementsAre(21, 43));
}

// ------------------------------------------------------------------ integers

// Codes of a 1x1 convolution of one pixel, through eval and every kernel.
template <typename X, typename W, typename Y, typename B = int32_t>
std::vector<Y> ConvolvePixel(AttributeMap attributes, TensorDesc input,
                             std::vector<X> x, TensorDesc weights,
                             std::vector<W> w, TensorDesc output,
                             std::optional<TensorDesc> bias = {},
                             std::vector<B> b = {}) {
  const auto node = MakeNode("tim.Conv2d", std::move(attributes),
                             {input, weights, bias}, {output});
  EXPECT_OK(node);
  if (!node.ok()) return {};
  std::vector<TensorData> inputs = {MakeTensor(input, x),
                                    MakeTensor(weights, w)};
  if (bias) inputs.push_back(MakeTensor(*bias, b));
  EXPECT_OK(CheckKernels(*node, inputs));
  const auto result = Eval(*node, inputs);
  EXPECT_OK(result);
  return Values<Y>((*result)[0]);
}

TensorDesc U8(Ints shape, float scale, int32_t zero) {
  return Desc(DataType::kUint8, std::move(shape), scale, zero);
}
TensorDesc I8(Ints shape, float scale, int32_t zero) {
  return Desc(DataType::kInt8, std::move(shape), scale, zero);
}
TensorDesc PerChannel(TensorDesc desc, int axis, std::vector<float> scales) {
  desc.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                       .axis = axis,
                       .scales = std::move(scales),
                       .zero_points = {}};
  return desc;
}

TEST(Conv2d, QuantizedResultRoundsTiesToEvenAfterTheZeroPoint) {
  // Real values 0.5 and 1.5, scale 1, odd zero point: 3.5 -> 4, 4.5 -> 4.
  const auto codes = ConvolvePixel<uint8_t, uint8_t, uint8_t>(
      {}, U8({2, 1, 1, 1}, 0.5f, 1), {2, 4}, U8({1, 1, 1, 1}, 1.0f, 0), {1},
      U8({2, 1, 1, 1}, 1.0f, 3));
  EXPECT_THAT(codes, ElementsAre(4, 4));
}

TEST(Conv2d, PoliciesWrapAndTruncate) {
  const auto codes = [](int64_t overflow, int64_t rounding) {
    // 100 * 3 = 300 and -7 * 3 / 4.
    return ConvolvePixel<int8_t, int8_t, int8_t>(
        {{"overflow_policy", overflow}, {"rounding_policy", rounding}},
        I8({2, 1, 1, 1}, 1.0f, 0), {100, -7}, I8({1, 1, 1, 1}, 1.0f, 0), {3},
        I8({2, 1, 1, 1}, 4.0f, 60));
  };
  EXPECT_THAT(codes(1, 1), ElementsAre(127, 55));
  EXPECT_THAT(codes(0, 1), ElementsAre(static_cast<int8_t>(135 - 256), 55));
  EXPECT_THAT(codes(1, 0), ElementsAre(127, 54));
}

TEST(Conv2d, SixteenBitSumsNeed64Bits) {
  const TensorDesc x = DescFixed(DataType::kInt16, {1, 1, 4, 1}, 0);
  const TensorDesc w = DescFixed(DataType::kInt16, {1, 1, 4, 1}, 0);
  const TensorDesc y = DescFixed(DataType::kInt16, {1, 1, 1, 1}, -17);
  EXPECT_THAT((ConvolvePixel<int16_t, int16_t, int16_t>(
                  {}, x, {-32768, -32768, -32768, -32768}, w,
                  {-32768, -32768, -32768, -32768}, y)),
              ElementsAre(32767));
  EXPECT_THAT((ConvolvePixel<int16_t, int16_t, int16_t>(
                  {}, x, {-32768, -32768, 32767, 0}, w,
                  {-32768, -32768, -32768, 0}, y)),
              ElementsAre(8192));
}

TEST(Conv2d, BiasInUnitsOfTheSumAddsItsCode) {
  // (5 * 2 + 7) * 0.5 * 0.5 = 4.25.
  const TensorDesc x = U8({1, 1, 1, 1}, 0.5f, 0);
  const TensorDesc w = U8({1, 1, 1, 1}, 0.5f, 0);
  const TensorDesc y = U8({1, 1, 1, 1}, 0.25f, 0);
  const auto codes = [&](TensorDesc bias, std::vector<int32_t> b) {
    return ConvolvePixel<uint8_t, uint8_t, uint8_t>({}, x, {5}, w, {2}, y, bias,
                                                    b)[0];
  };
  const TensorDesc plain = Desc(DataType::kInt32, {1});
  EXPECT_EQ(codes(plain, {7}), 17);
  EXPECT_EQ(codes(Desc(DataType::kInt32, {1}, 0.25f, 0), {7}), 17);
  EXPECT_EQ(codes(Desc(DataType::kInt32, {1}, 0.25f, 3), {10}), 17);
  EXPECT_EQ(codes(Desc(DataType::kInt32, {1}, 0.2500001f, 0), {7}), 17);
  // Another scale: real 7 * 0.1 = 0.7, 2.8 units, rounded to 3.
  EXPECT_EQ(codes(Desc(DataType::kInt32, {1}, 0.1f, 0), {7}), 13);
  EXPECT_EQ(codes(Desc(DataType::kInt32, {1}, 0.1f, 1), {8}), 13);
}

TEST(Conv2d, NearlyEqualBiasScaleKeepsTheCode) {
  // -32768 * 300 + 9830417 = 17; through real values it would be about 21.
  EXPECT_THAT((ConvolvePixel<int16_t, int16_t, int16_t>(
                  {}, Desc(DataType::kInt16, {1, 1, 1, 1}, 0.5f, 0), {-32768},
                  Desc(DataType::kInt16, {1, 1, 1, 1}, 0.5f, 0), {300},
                  Desc(DataType::kInt16, {1, 1, 1, 1}, 0.25f, 0),
                  Desc(DataType::kInt32, {1}, 0.2500001f, 0), {9830417})),
              ElementsAre(17));
}

TEST(Conv2d, FloatAndWideBias) {
  const TensorDesc x = U8({1, 1, 1, 1}, 0.5f, 0);
  const TensorDesc w = U8({1, 1, 1, 1}, 0.5f, 0);
  const TensorDesc y = U8({1, 1, 1, 1}, 0.25f, 0);
  EXPECT_THAT((ConvolvePixel<uint8_t, uint8_t, uint8_t, float>(
                  {}, x, {5}, w, {2}, y, F32({1}), {0.7f})),
              ElementsAre(13));
  EXPECT_THAT((ConvolvePixel<uint8_t, uint8_t, uint8_t, int64_t>(
                  {}, x, {5}, w, {2}, y, Desc(DataType::kInt64, {1}),
                  {std::numeric_limits<int64_t>::max()})),
              ElementsAre(255));
}

TEST(Conv2d, PerChannelWeights) {
  const TensorDesc w = PerChannel(I8({1, 1, 1, 2}, 1, 0), 3, {0.5f, 0.25f});
  const TensorDesc bias =
      PerChannel(Desc(DataType::kInt32, {2}), 0, {0.5f, 0.25f});
  EXPECT_THAT((ConvolvePixel<int8_t, int8_t, int8_t>(
                  {}, I8({1, 1, 1, 1}, 1.0f, -1), {9}, w, {4, 4},
                  I8({1, 1, 2, 1}, 1.0f, 2), bias, {2, 4})),
              ElementsAre(20 + 1 + 2, 10 + 1 + 2));
}

TEST(Conv2d, PlainIntegersAreExact) {
  EXPECT_THAT((ConvolvePixel<int16_t, int16_t, int32_t>(
                  {}, Desc(DataType::kInt16, {1, 1, 2, 1}), {32767, 1},
                  Desc(DataType::kInt16, {1, 1, 2, 1}), {32767, 1},
                  Desc(DataType::kInt32, {1, 1, 1, 1}))),
              ElementsAre(1073676290));
}

// ---------------------------------------------------------- fused, quantized

TEST(Conv2d, FusedReluEqualsBody) {
  std::mt19937 rng = SeededRng(14);
  Sample sample(3);
  const Ints shape = {7, 5, 18, 1};
  const std::vector<TensorDesc> outputs = {
      F32(shape),
      Desc(DataType::kFloat16, shape),
      U8(shape, 0.4f, 100),
      I8(shape, 0.04f, -20),
      Desc(DataType::kInt16, shape, 0.003f, 7),
      DescFixed(DataType::kInt8, shape, 3)};
  for (const TensorDesc& output : outputs) {
    for (const char* activation : {"tim.Relu", "tim.Relu6"}) {
      SCOPED_TRACE(output.ToString() + activation);
      const bool is_float = ir::IsFloat(output.type);
      TensorDesc x = is_float ? F32({7, 5, 3, 1}) : U8({7, 5, 3, 1}, 0.1f, 99);
      TensorDesc w =
          is_float ? F32({3, 3, 3, 18}) : I8({3, 3, 3, 18}, 0.01f, 0);
      for (const int64_t overflow : {0, 1}) {
        if (!sample.Takes()) continue;
        AttributeMap attributes = Conv2dAttributes(kSame);
        attributes.Set("overflow_policy", overflow);
        auto node = MakeNode("tim.Conv2d", attributes, {x, w}, {output});
        ASSERT_OK(node);
        node = Fuse(*node, activation, {}, {}, output);
        ASSERT_OK(node);
        EXPECT_OK(CheckKernels(*node, rng, {1e-4, 1e-5}));
      }
    }
  }
}

TEST(Conv2d, FusedAddIsPerChannelFloat) {
  std::mt19937 rng = SeededRng(15);
  const TensorDesc output = F32({7, 5, 18, 2});
  const auto plain =
      MakeNode("tim.Conv2d", Conv2dAttributes(kSame),
               {F32({7, 5, 3, 2}), F32({3, 3, 3, 18}), F32({18})}, {output});
  ASSERT_OK(plain);
  auto node = Fuse(*plain, "tim.Add", {}, {F32({1, 1, 18})}, output);
  ASSERT_OK(node);
  EXPECT_OK(CheckKernels(*node, rng, {1e-4, 1e-5}));
  node = Fuse(*node, "tim.Relu", {}, {}, output);
  ASSERT_OK(node);
  EXPECT_OK(CheckKernels(*node, rng, {1e-4, 1e-5}));
}

TEST(Conv2d, RefusesEpiloguesThatChangeQuantization) {
  const TensorDesc y = U8({2, 2, 4, 1}, 0.5f, 3);
  const auto plain =
      MakeNode("tim.Conv2d", {},
               {U8({2, 2, 4, 1}, 0.5f, 3), U8({1, 1, 4, 4}, 0.5f, 3)}, {y});
  ASSERT_OK(plain);
  const auto relu =
      Fuse(*plain, "tim.Relu", {}, {}, U8({2, 2, 4, 1}, 0.25f, 3));
  ASSERT_OK(relu);
  EXPECT_ERROR(Supports(*relu, "conv2d"),
               "a fused Relu must keep the type and quantization");
  const auto add = Fuse(*plain, "tim.Add", {}, {U8({1, 1, 4}, 0.5f, 3)}, y);
  ASSERT_OK(add);
  EXPECT_ERROR(Supports(*add, "conv2d"), "a fused Add must be float32");
}

}  // namespace
}  // namespace tim::testing
