// kernels/exact_quotient.clh against the host's a / b.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/kernels/float_probe.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

constexpr size_t kCount = 1 << 21;

constexpr char kProbes[] = R"(
__kernel void probe_1(__global const float* a, int ao, __global const float* b,
                      int bo, __global float* y, int yo) {
  const int i = get_global_id(0);
  y[yo + i] = tim_quotient_float(a[ao + i], b[bo + i]);
}
__kernel void probe_16(__global const float* a, int ao,
                       __global const float* b, int bo, __global float* y,
                       int yo) {
  const int i = get_global_id(0);
  vstore16(tim_quotient_float16(vload16(i, a + ao), vload16(i, b + bo)), i,
           y + yo);
}
__kernel void unit_16(__global const float* a, int ao, __global const float* b,
                      int bo, __global float* y, int yo) {
  const int i = get_global_id(0);
  vstore16(tim_unit_quotient_float16(vload16(i, a + ao), vload16(i, b + bo)),
           i, y + yo);
}
)";

void ExpectQuotients(const char* kernel, int lanes, const std::vector<float>& a,
                     const std::vector<float>& b, const char* options = "") {
  std::vector<float> expected(a.size());
  for (size_t i = 0; i < a.size(); ++i) expected[i] = a[i] / b[i];
  const auto y = RunProbe(
      {"kernels/exact_quotient.clh", kProbes, kernel, lanes, options}, {a, b});
  ASSERT_OK(y);
  EXPECT_EQ(Differences({a, b}, *y, expected), 0) << kernel << options;
}

// Quotients as the device has them, and without an instruction of its own.
void ExpectAnyQuotients(const std::vector<float>& a,
                        const std::vector<float>& b) {
  for (const char* options : {"", "-DTIM_PORTABLE"}) {
    ExpectQuotients("probe_1", 1, a, b, options);
    ExpectQuotients("probe_16", 16, a, b, options);
  }
}

TEST(Quotient, IsCorrectlyRoundedForAnyFloats) {
  const std::vector<float> a = AnyFloats(kCount, 21);
  std::vector<float> b = AnyFloats(kCount, 22);
  ExpectAnyQuotients(a, b);
}

TEST(Quotient, IsCorrectlyRoundedWhereItIsSubnormal) {
  std::mt19937 rng(23);
  std::vector<float> a(kCount);
  std::vector<float> b(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    a[i] = std::bit_cast<float>(static_cast<uint32_t>(rng()) & 0x80ffffff);
    const uint32_t exponent = 117 + rng() % 30;
    b[i] = std::bit_cast<float>((static_cast<uint32_t>(rng()) & 0x007fffff) |
                                exponent << 23);
  }
  ExpectAnyQuotients(a, b);
}

// Ties between subnormal numbers, and quotients just below a power of two.
TEST(Quotient, RoundsTiesToEven) {
  std::vector<float> a;
  std::vector<float> b;
  for (int k = 1; k < 4096; ++k) {
    for (int n = 1; n <= 4; ++n) {
      a.push_back(std::ldexp(static_cast<float>(k), -149));
      b.push_back(std::ldexp(1.0f, n));
      a.push_back(std::bit_cast<float>(0x3f800000u - n));
      b.push_back(std::bit_cast<float>(0x3f800000u + k));
    }
  }
  a.resize(a.size() / 16 * 16);
  b.resize(a.size());
  ExpectAnyQuotients(a, b);
}

TEST(Quotient, OfZeroInfinityAndNan) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {0.0f, -0.0f, kInfinity, -kInfinity,
                          NAN,  1.5f,  -3e-42f,   3e38f};
  std::vector<float> a;
  std::vector<float> b;
  for (const float x : values) {
    for (const float y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  ExpectAnyQuotients(a, b);
}

// Divisors over all mantissas of [1, 2].
TEST(UnitQuotient, IsCorrectlyRounded) {
  std::mt19937 rng(24);
  constexpr size_t kMantissas = 1 << 23;
  std::vector<float> a(kMantissas);
  std::vector<float> b(kMantissas);
  for (size_t i = 0; i < kMantissas; ++i) {
    const uint32_t exponent = 127 - rng() % 90;
    a[i] = std::bit_cast<float>((static_cast<uint32_t>(rng()) & 0x807fffff) |
                                exponent << 23);
    b[i] = std::bit_cast<float>(0x3f800001u + static_cast<uint32_t>(i));
  }
  ExpectQuotients("unit_16", 16, a, b);
}

// Their reciprocals are next to a tie or to 1.
TEST(UnitQuotient, OfTheHardestDivisors) {
  std::vector<float> a(1 << 23);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = std::bit_cast<float>(0x3f800000u + static_cast<uint32_t>(i));
  }
  for (const float b : {0x1.fffffep0f, 0x1.fffffcp0f, 0x1.000002p0f, 2.0f}) {
    ExpectQuotients("unit_16", 16, a, std::vector<float>(a.size(), b));
  }
}

}  // namespace
}  // namespace tim::testing
