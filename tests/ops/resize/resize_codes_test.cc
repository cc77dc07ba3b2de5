// Bilinear interpolation of 8-bit codes, of which kernels make few operations.
#include "ops/resize/resize_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kI8 = DataType::kInt8;

struct Extents {
  int64_t width = 1;
  int64_t height = 1;
};

constexpr int64_t kNearest = 0;
constexpr int64_t kBilinear = 1;

AttributeMap Attributes(int64_t kind, Extents to, bool align, bool half) {
  return {{"type", kind},
          {"align_corners", align},
          {"half_pixel_centers", half},
          {"target_width", to.width},
          {"target_height", to.height}};
}

// Images of `channels` channels, twice.
TensorDesc ImageDesc(DataType type, Extents extents, int64_t channels,
                     float scale, int zero) {
  return Desc(type, {extents.width, extents.height, channels, 2}, scale, zero);
}

ops::ResizeMap MapOf(Extents from, Extents to, bool align, bool half) {
  return ops::ResizeMapOf(Attributes(kBilinear, to, align, half), 2,
                          ir::Shape({from.width, from.height, 1, 1}),
                          ir::Shape({to.width, to.height, 1, 1}));
}

TEST(CodeBlends, AreExactWhereWeightsHaveFewBits) {
  const TensorDesc desc = Desc(kU8, {1}, 0.3f, 7);
  const auto exact = [&](Extents from, Extents to, bool align, bool half) {
    const auto blends =
        ops::CodeBlendsOf(desc, desc, MapOf(from, to, align, half));
    return blends.has_value() && blends->exact;
  };
  EXPECT_TRUE(exact({4, 4}, {8, 8}, false, false));
  EXPECT_TRUE(exact({4, 4}, {8, 8}, false, true));
  EXPECT_TRUE(exact({5, 9}, {9, 17}, true, false));
  // Weights of 7 and 7, 7 and 8 bits.
  EXPECT_TRUE(exact({2, 2}, {128, 128}, false, true));
  EXPECT_FALSE(exact({2, 2}, {128, 256}, false, true));
  EXPECT_FALSE(exact({4, 4}, {8, 12}, false, false));
  EXPECT_FALSE(exact({5, 9}, {10, 17}, true, false));
}

TEST(CodeBlends, RoundOnceWhereEveryBlendGivesTheSameCode) {
  const ops::ResizeMap map = MapOf({4, 4}, {8, 8}, false, true);
  const auto fused = [&](float scale_in, int zero_in, float scale_out,
                         int zero_out) {
    const auto blends =
        ops::CodeBlendsOf(Desc(kU8, {1}, scale_in, zero_in),
                          Desc(kU8, {1}, scale_out, zero_out), map);
    return blends.has_value() && blends->fused;
  };
  EXPECT_TRUE(fused(0.3f, 7, 0.3f, 7));
  EXPECT_TRUE(fused(0.3f, 7, 0.17f, 100));
  // Roundings make a tie of what is none.
  EXPECT_FALSE(fused(60 * 0.0137f, 255, 1.0f, 255));
  // Too many blends to try.
  const auto blends =
      ops::CodeBlendsOf(Desc(kU8, {1}, 0.3f, 7), Desc(kU8, {1}, 0.3f, 7),
                        MapOf({2, 2}, {32, 32}, false, true));
  ASSERT_TRUE(blends.has_value());
  EXPECT_TRUE(blends->exact);
  EXPECT_FALSE(blends->fused);
}

TEST(CodeBlends, AreOfBytesWithFewUnits) {
  const ops::ResizeMap map = MapOf({4, 4}, {8, 8}, false, false);
  const TensorDesc codes = Desc(kI8, {1}, 0.3f, 7);
  EXPECT_TRUE(ops::CodeBlendsOf(codes, Desc(kU8, {1}, 2.0f, 3), map));
  EXPECT_FALSE(ops::CodeBlendsOf(codes, Desc(kU8, {1}, 1e-6f, 3), map));
  EXPECT_FALSE(ops::CodeBlendsOf(codes, Desc(DataType::kFloat32, {1}), map));
  EXPECT_FALSE(
      ops::CodeBlendsOf(Desc(DataType::kInt16, {1}, 0.3f, 0), codes, map));
}

struct Case {
  Extents from;
  Extents to;
  bool align = false;
  bool half = false;
};

// Up and down by whole factors and others, by more than two; rows of more than
// a tile; one row, one column; blends that are exact, with few bits and many,
// and not exact.
std::vector<Case> Cases() {
  return {{{5, 3}, {10, 6}},
          {{5, 3}, {10, 6}, false, true},
          {{5, 3}, {9, 5}, true, false},
          {{5, 3}, {11, 8}, true, false},
          {{5, 3}, {8, 7}, true, true},
          {{7, 9}, {3, 4}},
          {{7, 9}, {3, 4}, false, true},
          {{8, 8}, {4, 4}, false, true},
          {{33, 2}, {66, 4}},
          {{5, 2}, {65, 3}, false, true},
          {{65, 2}, {129, 3}, true, false},
          {{2, 2}, {32, 32}, false, true},
          {{50, 2}, {25, 3}, false, true},
          {{100, 2}, {31, 3}},
          {{1, 4}, {3, 1}},
          {{4, 1}, {1, 3}, true, false}};
}

struct Codes {
  DataType from = kU8;
  float scale_in = 1;
  int zero_in = 0;
  DataType to = kU8;
  float scale_out = 1;
  int zero_out = 0;
};

// The same codes, ties of halves, both signs, extreme zero points, results that
// saturate, units too many for the kernel.
std::vector<Codes> CodesToTry() {
  return {{kU8, 0.3f, 128, kU8, 0.3f, 128},
          {kI8, 0.3f, -3, kI8, 0.3f, -3},
          {kU8, 60 * 0.0137f, 255, kU8, 1.0f, 255},
          {kU8, 0.5f, 255, kI8, 0.25f, 127},
          {kI8, 0.7f, -128, kU8, 0.9f, 0},
          {kU8, 5.0f, 3, kU8, 0.1f, 200},
          {kI8, 0.1f, 7, kI8, 3.0f, -128},
          {kU8, 1.0f, 3, kU8, 1e-5f, 7}};
}

void ExpectKernelsEqualEval(int64_t kind, const Case& tried, const Codes& codes,
                            int64_t channels, std::mt19937& rng) {
  const TensorDesc from = ImageDesc(codes.from, tried.from, channels,
                                    codes.scale_in, codes.zero_in);
  const TensorDesc to =
      ImageDesc(codes.to, tried.to, channels, codes.scale_out, codes.zero_out);
  const auto node = MakeNode(
      "tim.Resize", Attributes(kind, tried.to, tried.align, tried.half), {from},
      {to});
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, "resize"), 2);
  EXPECT_OK(CheckKernels(*node, rng))
      << kind << " " << from.ToString() << " " << to.ToString() << " "
      << tried.align << tried.half;
}

TEST(CodeBlends, KernelsEqualEval) {
  std::mt19937 rng(11);
  Sample sample(5);
  for (const Case& tried : Cases()) {
    for (const Codes& codes : CodesToTry()) {
      for (const int64_t channels : {16, 19}) {
        if (!sample.Takes()) continue;
        ExpectKernelsEqualEval(kBilinear, tried, codes, channels, rng);
      }
    }
  }
}

TEST(NearestCodes, KernelsEqualEval) {
  std::mt19937 rng(12);
  Sample sample(5);
  for (const Case& tried : Cases()) {
    for (const Codes& codes : CodesToTry()) {
      if (!sample.Takes()) continue;
      ExpectKernelsEqualEval(kNearest, tried, codes, 19, rng);
    }
  }
}

}  // namespace
}  // namespace tim::testing
