#include "bench/networks/codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "bench/networks/values.h"

namespace tim::bench {
namespace {

using ::testing::ElementsAre;

template <typename Code>
std::vector<int> Encoded(const std::vector<float>& values, const Shape& shape,
                         const Codes& codes) {
  std::vector<uint8_t> bytes;
  Encode(values, shape, codes, &bytes);
  std::vector<Code> found(bytes.size() / sizeof(Code));
  std::memcpy(found.data(), bytes.data(), bytes.size());
  return {found.begin(), found.end()};
}

TEST(Codes, OfARangeAreSpreadOverIt) {
  const Codes codes = CodesOfRange({-1.0f, 1.55f}, ElementType::kUint8);
  EXPECT_EQ(codes.type, ElementType::kUint8);
  ASSERT_EQ(codes.scales.size(), 1u);
  EXPECT_FLOAT_EQ(codes.scales[0], 0.01f);
  EXPECT_EQ(codes.zero_point, 100);
  EXPECT_THAT(Encoded<uint8_t>({-1.0f, 0.0f, 1.55f}, {3}, codes),
              ElementsAre(0, 100, 255));
}

TEST(Codes, OfSignedTypesBeginAtTheLeast) {
  const Codes codes = CodesOfRange({0.0f, 2.55f}, ElementType::kInt8);
  EXPECT_EQ(codes.type, ElementType::kInt8);
  EXPECT_EQ(codes.zero_point, -128);
  EXPECT_THAT(Encoded<int8_t>({0.0f, 0.01f, 2.55f}, {3}, codes),
              ElementsAre(-128, -127, 127));
}

TEST(Codes, OfEveryRangeHaveOneForZero) {
  const Codes above = CodesOfRange({1.0f, 5.1f}, ElementType::kUint8);
  EXPECT_FLOAT_EQ(above.scales[0], 0.02f);
  EXPECT_EQ(above.zero_point, 0);
  const Codes below = CodesOfRange({-5.1f, -1.0f}, ElementType::kUint8);
  EXPECT_FLOAT_EQ(below.scales[0], 0.02f);
  EXPECT_EQ(below.zero_point, 255);
  const Codes alone = CodesOfRange({0.0f, 0.0f}, ElementType::kInt8);
  EXPECT_EQ(alone.scales[0], 1.0f);
  EXPECT_EQ(alone.zero_point, 0);
}

TEST(Codes, AreRoundedToEvenAndSaturated) {
  const Codes codes = {
      .type = ElementType::kInt8, .scales = {2.0f}, .zero_point = 1};
  EXPECT_THAT(Encoded<int8_t>({1, 3, 5, -1, 1e6f, -1e6f}, {6}, codes),
              ElementsAre(1, 3, 3, 1, 127, -128));
}

// {W, C, N} = {2, 3, 2}
TEST(Codes, OfChannelsHaveAScaleEach) {
  const std::vector<float> values = {1, -2,  0, 0, 254, 3,  //
                                     2, 0.5, 0, 0, -8,  127};
  const Codes codes = CodesOfChannels(values, {2, 3, 2}, 1);
  EXPECT_EQ(codes.channel_axis, 1);
  EXPECT_EQ(codes.zero_point, 0);
  EXPECT_THAT(codes.scales, ElementsAre(2.0f / 127, 1.0f, 2.0f));
  EXPECT_THAT(Encoded<int8_t>(values, {2, 3, 2}, codes),
              ElementsAre(64, -127, 0, 0, 127, 2, 127, 32, 0, 0, -4, 64));
}

TEST(Codes, OfABiasAreThoseOfTheSums) {
  const Codes input = {
      .type = ElementType::kUint8, .scales = {0.5f}, .zero_point = 7};
  const Codes weights = {
      .type = ElementType::kInt8, .scales = {0.25f, 2.0f}, .channel_axis = 3};
  const Codes bias = CodesOfBias(input, weights);
  EXPECT_EQ(bias.type, ElementType::kInt32);
  EXPECT_THAT(bias.scales, ElementsAre(0.125f, 1.0f));
  EXPECT_EQ(bias.zero_point, 0);
  EXPECT_EQ(bias.channel_axis, 0);
  EXPECT_THAT(Encoded<int32_t>({1000.0f, -1000.0f}, {2}, bias),
              ElementsAre(8000, -1000));
}

// What the codes are depends on their places, too.
int64_t Sum(const std::vector<int>& codes) {
  int64_t sum = 0;
  for (size_t i = 0; i < codes.size(); ++i) {
    sum += static_cast<int64_t>(i % 251 + 1) * codes[i];
  }
  return sum;
}

// The constants are those of encode() of bench/onnx_quantized.py.
TEST(Codes, AreThoseThatPythonMakes) {
  const Shape shape = {3, 3, 50, 40};
  std::vector<float> values(static_cast<size_t>(Elements(shape)));
  FillValues(5, 0.7f, values);
  Codes signs = {.type = ElementType::kInt8, .scales = {}, .channel_axis = 3};
  for (int i = 0; i < 40; ++i) {
    signs.scales.push_back(0.004f + 0.0001f * static_cast<float>(i));
  }
  EXPECT_EQ(Sum(Encoded<int8_t>(values, shape, signs)), -2141151);
  const Codes plain = {
      .type = ElementType::kUint8, .scales = {0.0051f}, .zero_point = 131};
  EXPECT_EQ(Sum(Encoded<uint8_t>(values, shape, plain)), 293372812);
  const Codes wide = {.type = ElementType::kInt32, .scales = {3e-6f}};
  EXPECT_EQ(Sum(Encoded<int32_t>(values, shape, wide)), -4051624853);
}

}  // namespace
}  // namespace tim::bench
