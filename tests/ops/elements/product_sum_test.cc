#include "ops/elements/product_sum.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/data/test_tensor.h"

namespace tim::ops {
namespace {

using ir::DataType;
using ir::TensorDesc;
using testing::Desc;

SumKind KindOf(const TensorDesc& input, const TensorDesc& weights,
               int64_t terms) {
  return SumKindOf({&input, &weights, nullptr, nullptr}, terms);
}

TEST(SumKind, IsTheNarrowestThatIsProven) {
  const TensorDesc u8 = Desc(DataType::kUint8, {1}, 1.0f, 0);
  // 255 * 255 * 33025 < 2^31 <= 255 * 255 * 33026.
  EXPECT_EQ(KindOf(u8, u8, 33025), SumKind::kInt);
  EXPECT_EQ(KindOf(u8, u8, 33026), SumKind::kLong);
  const TensorDesc i16 = Desc(DataType::kInt16, {1}, 1.0f, 0);
  EXPECT_EQ(KindOf(i16, i16, 1), SumKind::kInt);
  EXPECT_EQ(KindOf(i16, i16, 2), SumKind::kLong);
  const TensorDesc i32 = Desc(DataType::kInt32, {1});
  EXPECT_EQ(KindOf(i32, i32, 1), SumKind::kLong);
  EXPECT_EQ(KindOf(i32, i32, 2), SumKind::kWide);
  EXPECT_EQ(KindOf(i32, Desc(DataType::kFloat16, {1}), 1), SumKind::kFloat);
}

TEST(SumKind, CountsFarZeroPoints) {
  const TensorDesc near = Desc(DataType::kInt8, {1}, 1.0f, 0);
  const TensorDesc far = Desc(DataType::kInt8, {1}, 1.0f, 1 << 30);
  EXPECT_EQ(KindOf(near, near, 1), SumKind::kInt);
  EXPECT_EQ(KindOf(near, far, 1), SumKind::kLong);
  TensorDesc channels = near;
  channels.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                           .axis = 0,
                           .scales = {1, 1},
                           .zero_points = {0, 1 << 30}};
  EXPECT_EQ(KindOf(near, channels, 1), SumKind::kLong);
}

TEST(ChannelRule, MultiplierIsRoundedOnce) {
  // float(double(a) * b / c) and float(float(a * b) / c) differ.
  const TensorDesc input = Desc(DataType::kUint8, {1}, 0.1f, 0);
  const TensorDesc weights = Desc(DataType::kUint8, {1}, 0.01f, 0);
  const TensorDesc output = Desc(DataType::kUint8, {1}, 0.3f, 0);
  const ChannelRule rule = RuleOf({&input, &weights, nullptr, &output}, 0);
  EXPECT_EQ(rule.factor,
            static_cast<float>(static_cast<double>(0.1f) * 0.01f / 0.3f));
  EXPECT_NE(rule.factor, 0.1f * 0.01f / 0.3f);
}

TEST(ChannelRule, BiasOfItsOwnScaleIsConverted) {
  const TensorDesc input = Desc(DataType::kUint8, {1}, 0.5f, 0);
  const TensorDesc output = Desc(DataType::kUint8, {1}, 1.0f, 0);
  const auto inverse = [&](const TensorDesc& bias) {
    return RuleOf({&input, &input, &bias, &output}, 0).bias_inverse;
  };
  EXPECT_EQ(inverse(Desc(DataType::kInt32, {1})), 0.0f);
  EXPECT_EQ(inverse(Desc(DataType::kInt32, {1}, 0.25f, 0)), 0.0f);
  EXPECT_EQ(inverse(Desc(DataType::kInt32, {1}, 0.250002f, 0)), 0.0f);
  EXPECT_EQ(inverse(Desc(DataType::kInt32, {1}, 0.250003f, 0)), 4.0f);
  EXPECT_EQ(inverse(Desc(DataType::kFloat32, {1})), 4.0f);
}

}  // namespace
}  // namespace tim::ops
