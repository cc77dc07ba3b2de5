#include "kernels/exact_exp2.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/kernels/float_probe.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

constexpr char kProbes[] = R"(
__kernel void exp2_1(__global const float* x, int xo, __global float* y,
                     int yo) {
  const int i = get_global_id(0);
  y[yo + i] = tim_exp2(x[xo + i]);
}
__kernel void exp2_16(__global const float* x, int xo, __global float* y,
                      int yo) {
  const int i = get_global_id(0);
  vstore16(tim_exp2_16(vload16(i, x + xo)), i, y + yo);
}
__kernel void exp2_64(__global const float* x, int xo, __global float* y,
                      int yo) {
  tim_exp2_doubts doubts = {0, 0};
  for (int j = 0; j < 4; ++j) {
    const int i = 4 * get_global_id(0) + j;
    vstore16(tim_exp2_fast16(vload16(i, x + xo), &doubts), i, y + yo);
  }
  if (!tim_exp2_doubtful(doubts)) return;
  for (int j = 0; j < 4; ++j) {
    const int i = 4 * get_global_id(0) + j;
    vstore16(tim_exp2_16(vload16(i, x + xo)), i, y + yo);
  }
}
__kernel void exact(__global const float* x, int xo, __global float* y,
                    int yo) {
  const int i = get_global_id(0);
  y[yo + i] = tim_exp2_exact(x[xo + i]);
}
)";

// A function of exact_exp2.clh on the first OpenCL device.
Result<std::vector<float>> OnDevice(const char* function, int lanes,
                                    const std::vector<float>& x,
                                    const std::string& options = "") {
  // Any program that includes exact_exp2.clh.
  return RunProbe(
      {"ops/normalization/softmax.cl", kProbes, function, lanes, options}, {x});
}

constexpr float kSpecial[] = {
    0.0f,      -0.0f,      kInfinity, -kInfinity, kNaN,     127.99999f,
    128.0f,    1e30f,      -1e30f,    -150.0f,    -149.99f, -149.5f,
    -149.0f,   -148.5f,    -127.0f,   -126.0f,    -126.5f,  -125.5f,
    0x1p-149f, -0x1p-149f, 0x1p-25f,  -0x1p-25f};

// Arguments of 2^t: all over its range, near 0, integers, special values.
std::vector<float> Exponents(size_t count, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> wide(-152.0f, 129.0f);
  std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
  std::vector<float> x(std::begin(kSpecial), std::end(kSpecial));
  for (int n = -151; n <= 129; ++n) x.push_back(static_cast<float>(n));
  while (x.size() < count) {
    x.push_back(wide(rng));
    x.push_back(std::ldexp(unit(rng), -static_cast<int>(rng() % 28)));
  }
  x.resize(count);
  return x;
}

TEST(Exp2, IsCorrectlyRounded) {
  for (const float t : Exponents(1 << 21, 1)) {
    const float expected =
        static_cast<float>(exp2l(static_cast<long double>(t)));
    const float y = kernels::Exp2(t);
    if (std::isnan(t)) {
      EXPECT_TRUE(std::isnan(y));
    } else {
      ASSERT_EQ(y, expected) << "2^" << t;
    }
  }
}

// Beyond these arguments, of either sign, the result is 1, 0 or infinite.
constexpr auto kFirst = std::bit_cast<uint32_t>(0x1p-27f);
constexpr auto kLast = std::bit_cast<uint32_t>(151.0f);

// Every float takes a minute or two, so only the long suite tries them all.
uint32_t WholeRangeStep() { return RunsLongTests() ? 1 : 251; }

TEST(Exp2, IsCorrectlyRoundedOverTheWholeRange) {
  const uint32_t step = WholeRangeStep();
  for (uint32_t bits = kFirst; bits <= kLast; bits += step) {
    const float t = std::bit_cast<float>(bits);
    for (const float x : {t, -t}) {
      ASSERT_EQ(kernels::Exp2(x),
                static_cast<float>(exp2l(static_cast<long double>(x))))
          << "2^" << x;
    }
  }
}

TEST(Exp2, FixedPointIsCorrectlyRounded) {
  for (const float t : Exponents(1 << 18, 2)) {
    if (!(t > -150.0f && t < 128.0f)) continue;
    ASSERT_EQ(kernels::Exp2Exact(t),
              static_cast<float>(exp2l(static_cast<long double>(t))))
        << "2^" << t;
  }
}

TEST(Exp2, TwoFloatsAreWithinTheirBound) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<float> half(-0.5f, 0.5f);
  for (int i = 0; i < (1 << 18); ++i) {
    const float f = half(rng);
    const kernels::FloatPair y = kernels::Exp2Pair(f);
    const long double expected = exp2l(static_cast<long double>(f));
    ASSERT_NEAR((y.high - expected) + y.low, 0.0L, 0x1p-41L * expected) << f;
  }
}

TEST(Exp2, SpecialValues) {
  EXPECT_EQ(kernels::Exp2(0.0f), 1.0f);
  EXPECT_EQ(kernels::Exp2(-0.0f), 1.0f);
  EXPECT_EQ(kernels::Exp2(kInfinity), kInfinity);
  EXPECT_EQ(kernels::Exp2(128.0f), kInfinity);
  EXPECT_EQ(kernels::Exp2(-kInfinity), 0.0f);
  EXPECT_EQ(kernels::Exp2(-150.0f), 0.0f);
  EXPECT_EQ(kernels::Exp2(-149.99f), 0x1p-149f);
  EXPECT_EQ(kernels::Exp2(-127.0f), 0x1p-127f);
  EXPECT_TRUE(std::isnan(kernels::Exp2(kNaN)));
}

// Every variant of 2^t on the device.
void ExpectTheSameOnTheDevice(const std::vector<float>& x) {
  struct Variant {
    const char* function;
    int lanes;
    const char* options;
  };
  std::vector<float> expected;
  for (const float t : x) expected.push_back(kernels::Exp2(t));
  for (const auto& [function, lanes, options] :
       {Variant{"exp2_1", 1, ""}, Variant{"exp2_16", 16, ""},
        Variant{"exp2_16", 16, "-DTIM_NO_FMA"},
        Variant{"exp2_16", 16, "-DTIM_NO_DOUBLE"}, Variant{"exp2_64", 64, ""},
        Variant{"exp2_64", 64, "-DTIM_NO_DOUBLE"}}) {
    const auto y = OnDevice(function, lanes, x, options);
    ASSERT_OK(y);
    ASSERT_EQ(Differences({x}, *y, expected), 0) << function << options;
  }
}

TEST(Exp2, DeviceHasTheSameBits) {
  ExpectTheSameOnTheDevice(Exponents(1 << 20, 4));
}

TEST(Exp2, DeviceHasTheSameBitsOverTheWholeRange) {
  constexpr size_t kAtOnce = 1 << 22;
  const uint32_t step = WholeRangeStep();
  std::vector<float> x;
  for (uint32_t bits = kFirst; bits <= kLast; bits += step) {
    const auto t = std::bit_cast<float>(bits);
    x.push_back(t);
    x.push_back(-t);
    if (x.size() < kAtOnce) continue;
    ExpectTheSameOnTheDevice(x);
    if (HasFatalFailure()) return;
    x.clear();
  }
  x.resize(x.size() / 64 * 64);
  ExpectTheSameOnTheDevice(x);
}

TEST(Exp2, DeviceFixedPointHasTheSameBits) {
  std::vector<float> x = Exponents(1 << 20, 5);
  std::vector<float> expected;
  for (float& t : x) {
    if (!(t > -150.0f && t < 128.0f)) t = 0.5f;
    expected.push_back(kernels::Exp2Exact(t));
  }
  const auto y = OnDevice("exact", 1, x);
  ASSERT_OK(y);
  EXPECT_EQ(Differences({x}, *y, expected), 0);
}

}  // namespace
}  // namespace tim::testing
