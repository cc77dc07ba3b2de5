// Operators of two inputs on all pairs of 8-bit codes.
#include "ops/elementwise/byte_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ops/elements/operands.h"
#include "tests/support/data/binary_reference.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kI8 = DataType::kInt8;

struct Codes3 {
  TensorDesc a;
  TensorDesc b;
  TensorDesc y;
};

// Every code of a along axis 0, of b along axis 1: all pairs.
Codes3 Pairs(DataType a, float a_scale, int a_zero, DataType b, float b_scale,
             int b_zero, DataType y, float y_scale, int y_zero) {
  return {Desc(a, {256}, a_scale, a_zero), Desc(b, {1, 256}, b_scale, b_zero),
          Desc(y, {256, 256}, y_scale, y_zero)};
}

// Extreme zero points, sums that saturate, ratios of scales above 1 and tiny
// ones, and scales that are powers of two, whose quotients lie in the middle of
// codes.
std::vector<Codes3> HardCodes() {
  return {
      Pairs(kU8, 0.0235f, 0, kU8, 0.0471f, 255, kU8, 0.0519f, 128),
      Pairs(kU8, 0.0235f, 255, kU8, 0.0471f, 0, kU8, 0.0519f, 0),
      Pairs(kI8, 0.0235f, -128, kI8, 0.0471f, 127, kI8, 0.0519f, -1),
      Pairs(kI8, 0.5f, 0, kI8, 0.25f, 0, kI8, 1.0f, 0),
      Pairs(kU8, 0.5f, 128, kI8, 0.125f, 3, kU8, 0.25f, 127),
      Pairs(kU8, 3.7f, 100, kU8, 2.9f, 150, kU8, 0.01f, 20),
      Pairs(kU8, 1e-3f, 7, kU8, 2e-5f, 9, kU8, 4.0f, 3),
      Pairs(kI8, 1e-3f, 7, kU8, 1.7f, 9, kI8, 0.9f, -100),
      Pairs(kU8, 0.1f, 1, kU8, 0.1f, 2, kU8, 0.1f, 3),
      Pairs(kU8, 1.0f, 0, kU8, 1.0f, 0, kU8, 1.0f / 3.0f, 0),
      Pairs(kU8, 0.023f, 101, kU8, 0.026f, 102, kU8, 0.029f, 103),
      Pairs(kI8, 0.7f, -5, kU8, 0.31f, 77, kI8, 0.9f, 11),
      Pairs(kI8, 1e20f, 0, kI8, 1e20f, 1, kI8, 1e-20f, 0),
  };
}

std::vector<TensorData> AllPairs(const Codes3& codes) {
  std::vector<uint8_t> bytes(256);
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  return {MakeTensor(codes.a, bytes), MakeTensor(codes.b, bytes)};
}

TEST(BytePairs, KernelsEqualEvalOnAllPairs) {
  Sample sample(4);
  for (const std::string op :
       {"tim.Add", "tim.Sub", "tim.Multiply", "tim.Div", "tim.Maximum"}) {
    for (const Codes3& codes : HardCodes()) {
      if (!sample.Takes()) continue;
      const auto node = MakeBinary(op, codes.a, codes.b, codes.y);
      ASSERT_OK(node);
      EXPECT_OK(CheckKernels(*node, AllPairs(codes)))
          << op << " " << codes.a.ToString() << " " << codes.b.ToString() << " "
          << codes.y.ToString();
    }
  }
}

TEST(BytePairs, FusedLimitsEqualEvalOnAllPairs) {
  for (const std::string activation : {"tim.Relu", "tim.Relu6"}) {
    for (const Codes3& codes : HardCodes()) {
      const auto node = MakeBinary("tim.Add", codes.a, codes.b, codes.y);
      ASSERT_OK(node);
      const auto fused = Fuse(*node, activation, {}, {}, codes.y);
      ASSERT_OK(fused);
      EXPECT_OK(CheckKernels(*fused, AllPairs(codes)))
          << activation << codes.y.ToString();
    }
  }
}

std::string OptionsOf(const Codes3& codes, const std::string& op,
                      const ir::AttributeMap& attributes = {}) {
  const auto node = MakeBinary(op, codes.a, codes.b, codes.y, attributes);
  if (!node.ok()) return node.status().ToString();
  const std::string kernel = ops::LowerCase(op.substr(op.find('.') + 1));
  const auto launches = LaunchesOf(*node, kernel, TestDevice());
  return launches.ok() ? launches->at(0).options : launches.status().ToString();
}

TEST(BytePairs, FewOperationsWhereAllPairsAllowIt) {
  const Codes3 usual = Pairs(kU8, 0.5f, 3, kU8, 0.25f, 9, kU8, 1.0f, 128);
  EXPECT_THAT(OptionsOf(usual, "tim.Add"),
              ::testing::HasSubstr("-DCORRECTIONS=0"));
  // x / 0 is infinite.
  EXPECT_THAT(OptionsOf(usual, "tim.Div"),
              ::testing::Not(::testing::HasSubstr("CORRECTIONS")));
  for (const char* policy : {ir::kOverflowPolicy, ir::kRoundingPolicy}) {
    EXPECT_THAT(OptionsOf(usual, "tim.Add", {{policy, int64_t{0}}}),
                ::testing::Not(::testing::HasSubstr("CORRECTIONS")));
  }
  const auto linear = ::testing::HasSubstr("-DLINEAR");
  EXPECT_THAT(OptionsOf(usual, "tim.Add"), linear);
  EXPECT_THAT(
      OptionsOf(Pairs(kU8, 0.0235f, 0, kI8, 0.0471f, 100, kU8, 0.0519f, 128),
                "tim.Add"),
      linear);
  // Not linear, and sums of more units than are exact enough.
  EXPECT_THAT(OptionsOf(usual, "tim.Multiply"), ::testing::Not(linear));
  EXPECT_THAT(OptionsOf(Pairs(kU8, 3.7f, 100, kU8, 2.9f, 150, kU8, 0.01f, 20),
                        "tim.Add"),
              ::testing::Not(linear));
  const Codes3 plain = {Desc(kU8, {4}), Desc(kU8, {4}), Desc(kU8, {4})};
  EXPECT_THAT(OptionsOf(plain, "tim.Add"),
              ::testing::Not(::testing::HasSubstr("CORRECTIONS")));
  const Codes3 wide = {Desc(DataType::kInt16, {4}, 0.1f, 0), Desc(kU8, {4}),
                       Desc(kU8, {4})};
  EXPECT_THAT(OptionsOf(wide, "tim.Add"),
              ::testing::Not(::testing::HasSubstr("CORRECTIONS")));
}

// Vectors and what remains of rows; blocks of channels; either operand
// broadcast.
TEST(BytePairs, LinearCodesEqualEvalInEveryShape) {
  std::mt19937 rng(3);
  const std::vector<std::vector<int64_t>> shapes = {
      {37, 3}, {15}, {5, 7, 19, 2}, {5, 7, 16, 1}, {1, 1, 16, 1}};
  for (const std::string op : {"tim.Add", "tim.Sub"}) {
    for (const auto& a : shapes) {
      for (const std::vector<int64_t>& b :
           {a, std::vector<int64_t>(a.size(), 1)}) {
        for (const DataType type : {kU8, kI8}) {
          const TensorDesc x = Desc(type, a, 0.023f, 101);
          const TensorDesc z = Desc(kU8, b, 0.031f, 7);
          for (const auto& node :
               {MakeBinary(op, x, z,
                           Desc(type, a, 0.029f, type == kU8 ? 9 : -9)),
                MakeBinary(op, z, x, Desc(kU8, a, 0.041f, 103))}) {
            ASSERT_OK(node);
            EXPECT_OK(CheckKernels(*node, rng))
                << op << " " << x.ToString() << " " << z.ToString();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tim::testing
