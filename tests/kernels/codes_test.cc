#include "kernels/bytes/codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "kernels/elements.h"

namespace tim::kernels {
namespace {

ir::TensorDesc Codes(ir::DataType type, float scale, int32_t zero) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = ir::Shape({1});
  desc.quantization = ir::Quantization::PerTensor(scale, zero);
  return desc;
}

int64_t Stored(const ir::TensorDesc& desc, float real) {
  int8_t bits = 0;
  ElementWriter({&desc, &bits}).StoreReal(0, real);
  return ElementReader({&desc, &bits}).Code(0);
}

// What codes.clh computes.
int64_t Bounded(const ir::TensorDesc& desc, float real, int corrections) {
  const float scale = desc.quantization.Scale();
  const auto zero = static_cast<float>(desc.quantization.ZeroPoint());
  const float inverse = 1.0f / scale;
  float sum = std::fma(real, inverse, 12582912.0f + zero);
  if (corrections == 1) {
    const float first = real * inverse;
    const float second =
        std::fma(std::fma(-first, scale, real), inverse, first);
    sum = second + zero + 12582912.0f;
  }
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  return std::clamp<int64_t>(std::llrint(sum - 12582912.0f), info.min,
                             info.max);
}

// Sums of two codes of other scales, as an Add has them.
std::vector<float> Sums(float a, float b) {
  std::vector<float> sums;
  for (int i = -128; i < 128; ++i) {
    for (int j = -128; j < 128; ++j) {
      sums.push_back(static_cast<float>(i) * a + static_cast<float>(j) * b);
    }
  }
  return sums;
}

TEST(BoundedCodes, AnswersTheFewestCorrectionsThatGiveTheSameCodes) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<float> exponent(-6.0f, 3.0f);
  int found[3] = {0, 0, 0};
  for (int repeat = 0; repeat < 60; ++repeat) {
    const ir::TensorDesc desc =
        Codes(repeat % 2 == 0 ? ir::DataType::kInt8 : ir::DataType::kUint8,
              std::exp2(exponent(rng)), static_cast<int32_t>(rng() % 128));
    const auto sums = Sums(std::exp2(exponent(rng)), std::exp2(exponent(rng)));
    BoundedCodes codes(desc);
    bool equal[2] = {true, true};
    for (const float sum : sums) {
      codes.Add(sum);
      for (int k = 0; k < 2; ++k) {
        equal[k] &= Bounded(desc, sum, k) == Stored(desc, sum);
      }
    }
    const int expected = equal[0] ? 0 : equal[1] ? 1 : 2;
    EXPECT_EQ(codes.corrections().value_or(2), expected) << desc.ToString();
    ++found[expected];
  }
  EXPECT_GT(found[0], 0);
  EXPECT_GT(found[1], 0);
}

TEST(BoundedCodes, HasNoneBeyondWhatItCanCompare) {
  const ir::TensorDesc desc = Codes(ir::DataType::kInt8, 0.5f, 3);
  EXPECT_EQ(BoundedCodes(desc).corrections(), 0);
  for (const float real :
       {INFINITY, -INFINITY, NAN, 0x1p-90f, 0x1p81f, 0x1p21f}) {
    BoundedCodes codes(desc);
    codes.Add(real);
    EXPECT_EQ(codes.corrections(), std::nullopt) << real;
  }
  for (const ir::TensorDesc& other : {Codes(ir::DataType::kInt16, 0.5f, 3),
                                      Codes(ir::DataType::kInt8, 1e-30f, 0),
                                      Codes(ir::DataType::kInt8, 0.5f, 600),
                                      Codes(ir::DataType::kBool8, 0.5f, 0)}) {
    EXPECT_EQ(BoundedCodes(other).corrections(), std::nullopt)
        << other.ToString();
  }
  ir::TensorDesc channels = desc;
  channels.quantization = {
      .kind = ir::QuantizationKind::kPerChannel, .axis = 0, .scales = {0.5f}};
  EXPECT_EQ(BoundedCodes(channels).corrections(), std::nullopt);
}

TEST(AreBoundedCodes, HaveFewUnits) {
  const auto u8 = Codes(ir::DataType::kUint8, 0.5f, 3);
  EXPECT_TRUE(AreBoundedCodes(u8, Codes(ir::DataType::kInt8, 0.7f, 3)));
  EXPECT_TRUE(AreBoundedCodes(u8, Codes(ir::DataType::kInt8, 1e30f, -512)));
  EXPECT_FALSE(AreBoundedCodes(u8, Codes(ir::DataType::kInt8, 1e-4f, 3)));
  EXPECT_FALSE(AreBoundedCodes(u8, Codes(ir::DataType::kInt8, 0.7f, -513)));
  EXPECT_FALSE(AreBoundedCodes(u8, Codes(ir::DataType::kInt16, 0.7f, 3)));
  EXPECT_FALSE(AreBoundedCodes(Codes(ir::DataType::kBool8, 0.5f, 3), u8));
  EXPECT_FALSE(AreBoundedCodes(Codes(ir::DataType::kUint8, 0.5f, 513), u8));
}

}  // namespace
}  // namespace tim::kernels
