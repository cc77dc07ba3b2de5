// Results of binary operators by hand: each formula, zeros, limits, NaN, scale.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/op_schema.h"
#include "tests/support/data/binary_reference.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
const ir::AttributeMap kWrap = {{ir::kOverflowPolicy, int64_t{0}}};

// Results of eval, which the kernel must repeat.
TensorData Compute(const std::string& op, const TensorData& a,
                   const TensorData& b, const ir::TensorDesc& y,
                   const ir::AttributeMap& attributes = {}) {
  const auto node = MakeBinary(op, a.desc, b.desc, y, attributes);
  EXPECT_OK(node);
  const auto result = Eval(*node, {a, b});
  EXPECT_OK(result);
  EXPECT_OK(CheckKernels(*node, {a, b}));
  return (*result)[0];
}

TensorData Floats(const std::vector<float>& values) {
  return MakeTensor<float>(
      Desc(DataType::kFloat32, {static_cast<int64_t>(values.size())}), values);
}

template <typename T>
TensorData Integers(DataType type, const std::vector<T>& values) {
  return MakeTensor<T>(Desc(type, {static_cast<int64_t>(values.size())}),
                       values);
}

TEST(Binary, FloatsByHand) {
  const auto y = Desc(DataType::kFloat32, {});
  const auto a = Floats({1.5f, -6, 8});
  const auto b = Floats({2, 3, -0.5f});
  using Expected = std::vector<float>;
  const auto run = [&](const std::string& op,
                       const ir::AttributeMap& attributes = {}) {
    return Values<float>(Compute(op, a, b, y, attributes));
  };
  EXPECT_EQ(run("tim.Sub"), (Expected{-0.5f, -9, 8.5f}));
  EXPECT_EQ(run("tim.Multiply"), (Expected{3, -18, -4}));
  EXPECT_EQ(run("tim.Multiply", {{"scale", 0.5}}), (Expected{1.5f, -9, -2}));
  EXPECT_EQ(run("tim.Div"), (Expected{0.75f, -2, -16}));
  EXPECT_EQ(run("tim.Div", {{"scale", 4.0}}), (Expected{3, -8, -64}));
  EXPECT_EQ(run("tim.Minimum"), (Expected{1.5f, -6, -0.5f}));
  EXPECT_EQ(run("tim.Maximum"), (Expected{2, 3, 8}));
}

// Subnormal quotients, and divisors whose reciprocal is none, are exact, too.
TEST(Div, FloatsAreCorrectlyRounded) {
  const auto a = Floats({1, 3e-38f, 1e-45f, 3e38f, 5e-45f, -1e-39f});
  const auto b = Floats({3, 7, 1e-45f, 2e38f, 2, 3e-39f});
  const auto y = Values<float>(Compute("tim.Div", a, b, a.desc));
  const auto n = Values<float>(a);
  const auto d = Values<float>(b);
  for (size_t i = 0; i < n.size(); ++i) EXPECT_EQ(y[i], n[i] / d[i]);
}

TEST(Div, ByZero) {
  const auto a = Floats({1, -1, 0, 2});
  const auto b = Floats({0, 0, 0, -0.0f});
  const auto y = Values<float>(Compute("tim.Div", a, b, a.desc));
  EXPECT_EQ(y[0], kInf);
  EXPECT_EQ(y[1], -kInf);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], -kInf);
  const auto u8 = Desc(DataType::kUint8, {4}, 0.5f, 10);
  const auto codes =
      Compute("tim.Div", MakeTensor<uint8_t>(u8, {12, 8, 10, 14}),
              MakeTensor<uint8_t>(u8, {10, 10, 10, 12}), u8);
  EXPECT_EQ(Codes(codes), (std::vector<int64_t>{255, 0, 0, 14}));
}

TEST(Div, PlainIntegersTruncateAndNeverTrap) {
  const std::vector<int64_t> a = {7, -7, 7, 5, -5, 0, kMin, kMin, kMax};
  const std::vector<int64_t> b = {2, 2, -2, 0, 0, 0, -1, 1, -1};
  const auto i64 = Desc(DataType::kInt64, {});
  const auto n = Integers(DataType::kInt64, a);
  const auto d = Integers(DataType::kInt64, b);
  EXPECT_EQ(
      Codes(Compute("tim.Div", n, d, i64)),
      (std::vector<int64_t>{3, -3, -3, kMax, kMin, 0, kMax, kMin, -kMax}));
  EXPECT_EQ(Codes(Compute("tim.Div", n, d, i64, kWrap))[6], kMin);
  const auto narrow = Compute(
      "tim.Div", Integers<int32_t>(DataType::kInt32, {INT32_MIN, 9, -9}),
      Integers<int32_t>(DataType::kInt32, {-1, 0, 0}),
      Desc(DataType::kInt32, {}));
  EXPECT_EQ(Codes(narrow),
            (std::vector<int64_t>{INT32_MAX, INT32_MAX, INT32_MIN}));
}

TEST(Multiply, PlainIntegersSaturateOrWrapIn64Bits) {
  const auto a = Integers<int64_t>(DataType::kInt64,
                                   {kMax, kMin, kMin, 1L << 40, -3, kMin, 0});
  const auto b =
      Integers<int64_t>(DataType::kInt64, {2, 2, -1, 1L << 40, 5, 1, kMin});
  const auto i64 = Desc(DataType::kInt64, {});
  EXPECT_EQ(Codes(Compute("tim.Multiply", a, b, i64)),
            (std::vector<int64_t>{kMax, kMin, kMax, kMax, -15, kMin, 0}));
  EXPECT_EQ(Codes(Compute("tim.Multiply", a, b, i64, kWrap)),
            (std::vector<int64_t>{-2, 0, kMin, 0, -15, kMin, 0}));
}

TEST(Sub, PlainIntegersSaturateOrWrapIn64Bits) {
  const auto a = Integers<int64_t>(DataType::kInt64, {kMax, kMin, 0, 7});
  const auto b = Integers<int64_t>(DataType::kInt64, {-1, 1, kMin, 9});
  const auto i64 = Desc(DataType::kInt64, {});
  EXPECT_EQ(Codes(Compute("tim.Sub", a, b, i64)),
            (std::vector<int64_t>{kMax, kMin, kMax, -2}));
  EXPECT_EQ(Codes(Compute("tim.Sub", a, b, i64, kWrap)),
            (std::vector<int64_t>{kMin, kMax, kMin, -2}));
}

// Float32 holds no 2^24 + 1.
TEST(Binary, PlainIntegersAreExact) {
  const auto a = Integers<int32_t>(DataType::kInt32, {16777217, -16777217});
  const auto b = Integers<int32_t>(DataType::kInt32, {1, 16777216});
  const auto run = [&](const std::string& op) {
    return Codes(Compute(op, a, b, Desc(DataType::kInt32, {})));
  };
  using Expected = std::vector<int64_t>;
  EXPECT_EQ(run("tim.Multiply"), (Expected{16777217, INT32_MIN}));
  EXPECT_EQ(run("tim.Div"), (Expected{16777217, -1}));
  EXPECT_EQ(run("tim.Minimum"), (Expected{1, -16777217}));
  EXPECT_EQ(run("tim.Maximum"), (Expected{16777217, 16777216}));
}

TEST(Binary, ScaledPlainIntegersAreRounded) {
  const auto a = Integers<int32_t>(DataType::kInt32, {7, 9, -7, 5});
  const auto b = Integers<int32_t>(DataType::kInt32, {1, 1, 1, 0});
  const auto i32 = Desc(DataType::kInt32, {});
  const ir::AttributeMap half = {{"scale", 0.5}};
  const ir::AttributeMap truncated = {{"scale", 0.5},
                                      {ir::kRoundingPolicy, int64_t{0}}};
  using Expected = std::vector<int64_t>;
  EXPECT_EQ(Codes(Compute("tim.Multiply", a, b, i32, half)),
            (Expected{4, 4, -4, 0}));
  EXPECT_EQ(Codes(Compute("tim.Multiply", a, b, i32, truncated)),
            (Expected{3, 4, -3, 0}));
  EXPECT_EQ(Codes(Compute("tim.Div", a, b, i32, half)),
            (Expected{4, 4, -4, INT32_MAX}));
}

TEST(Multiply, ScaleComesBeforeRounding) {
  const auto u8 = Desc(DataType::kUint8, {2}, 0.5f, 10);
  // 0.5 * 1.5 * 8 = 6 and 122.5 * 0.5 * 8 = 490 in steps of 3.
  const auto y =
      Compute("tim.Multiply", MakeTensor<uint8_t>(u8, {11, 255}),
              MakeTensor<uint8_t>(u8, {13, 11}),
              Desc(DataType::kInt16, {}, 3.0f, -1), {{"scale", 8.0}});
  EXPECT_EQ(Codes(y), (std::vector<int64_t>{1, 162}));
}

TEST(MinimumAndMaximum, NanOfEitherOperandWins) {
  const auto a = Floats({NAN, 1, NAN, kInf, -kInf});
  const auto b = Floats({1, NAN, NAN, 2, 2});
  for (const std::string op : {"tim.Minimum", "tim.Maximum"}) {
    const auto y = Values<float>(Compute(op, a, b, a.desc));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y[i])) << op;
    EXPECT_EQ(y[3], op == "tim.Minimum" ? 2 : kInf);
    EXPECT_EQ(y[4], op == "tim.Minimum" ? -kInf : 2);
    const auto codes = Compute(op, a, b, Desc(DataType::kInt8, {}, 0.5f, 3));
    EXPECT_EQ(Codes(codes)[0], 0);
    EXPECT_EQ(Codes(codes)[1], 0);
  }
}

TEST(Binary, HalvesAreRoundedOnce) {
  const auto f16 = Desc(DataType::kFloat16, {2});
  // (1 + 2^-10)^2 and (1 + 2^-10) * (1 + 2^-9) need more bits than a half has.
  const auto a = MakeTensor<uint16_t>(f16, {0x3c01, 0x3c01});
  const auto b = MakeTensor<uint16_t>(f16, {0x3c01, 0x3c02});
  EXPECT_EQ(Values<uint16_t>(Compute("tim.Multiply", a, b, f16)),
            (std::vector<uint16_t>{0x3c02, 0x3c03}));
  EXPECT_EQ(Values<uint16_t>(Compute("tim.Sub", a, b, f16)),
            (std::vector<uint16_t>{0x0000, 0x9400}));
}

}  // namespace
}  // namespace tim::testing
