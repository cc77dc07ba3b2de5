// kernels/formulas/exact_pow and exact_remainder: bounds, special cases, and
// that devices have the bits of the host.
#include "kernels/formulas/exact_pow.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/kernels/float_probe.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kEnds[] = {
    0,      -0.0f,      1,         -1,          2,
    -2,     3,          -3,        0.5f,        -0.5f,
    2.5f,   -2.5f,      1e30f,     -1e30f,      3e38f,
    -3e38f, 1e-45f,     -1e-45f,   16777215.0f, 16777216.0f,
    -1e9f,  0.9999999f, kInfinity, -kInfinity,  kNan};

// Bases of any exponent and exponents that make results of any exponent, half
// of them from bases near 1.
struct Arguments {
  std::vector<float> x;
  std::vector<float> y;
};
Arguments PowArguments(size_t count, uint32_t seed) {
  Arguments out = {AnyFloats(count, seed), AnyFloats(count, seed + 1)};
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> result(-152, 130);
  for (size_t i = count / 4; i < count; ++i) {
    float x = std::fabs(out.x[i]);
    if (i % 2 == 0) x = std::uniform_real_distribution<float>(0.7f, 1.43f)(rng);
    out.y[i] = result(rng) / std::log2(x);
    out.x[i] = x;
  }
  return out;
}

double PowError(float x, float y) {
  const auto exact = static_cast<double>(
      std::pow(static_cast<long double>(x), static_cast<long double>(y)));
  return UlpError(kernels::Pow(x, y), exact);
}

TEST(ExactPow, WithinItsBound) {
  const size_t count = RunsLongTests() ? 1 << 26 : 1 << 19;
  const Arguments arguments = PowArguments(count, 31);
  for (size_t i = 0; i < count; ++i) {
    const float x = arguments.x[i];
    const float y = arguments.y[i];
    ASSERT_LE(PowError(x, y), 1) << x << "^" << y;
  }
}

TEST(ExactPow, SpecialCasesAreThoseOfC) {
  for (const float x : kEnds) {
    for (const float y : kEnds) {
      const double expected = std::pow(double{x}, double{y});
      const float actual = kernels::Pow(x, y);
      EXPECT_LE(UlpError(actual, expected), 1) << x << "^" << y;
      if (std::isnan(expected)) continue;
      EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << x << "^" << y;
    }
  }
}

std::string Probes(const std::string& name) {
  return StrCat(R"(
__kernel void probe_1(__global const float* x, int xo,
                      __global const float* y, int yo, __global float* z,
                      int zo) {
  const int i = get_global_id(0);
  z[zo + i] = )",
                name, R"(_float(x[xo + i], y[yo + i]);
}
__kernel void probe_16(__global const float* x, int xo,
                       __global const float* y, int yo, __global float* z,
                       int zo) {
  const int i = get_global_id(0);
  vstore16()",
                name, R"(_float16(vload16(i, x + xo), vload16(i, y + yo)), i,
           z + zo);
}
)");
}

void ExpectSameBits(const std::string& header, const std::string& name,
                    float (*twin)(float, float), Arguments arguments) {
  for (const float x : kEnds) {
    for (const float y : kEnds) {
      arguments.x.push_back(x);
      arguments.y.push_back(y);
    }
  }
  while (arguments.x.size() % 16 != 0) {
    arguments.x.push_back(1);
    arguments.y.push_back(2);
  }
  const std::vector<std::vector<float>> both = {arguments.x, arguments.y};
  std::vector<float> expected;
  for (size_t i = 0; i < both[0].size(); ++i) {
    expected.push_back(twin(both[0][i], both[1][i]));
  }
  for (const auto& [kernel, lanes] :
       {std::pair("probe_1", 1), std::pair("probe_16", 16)}) {
    const auto found = RunProbe({header, Probes(name), kernel, lanes}, both);
    ASSERT_OK(found);
    EXPECT_EQ(Differences(both, *found, expected), 0) << name << " " << kernel;
  }
}

TEST(ExactPow, DeviceHasTheSameBits) {
  ExpectSameBits("kernels/formulas/exact_pow.clh", "tim_pow", kernels::Pow,
                 PowArguments(1 << 18, 33));
}

// Neighbours of multiples, too.
TEST(ExactRemainder, DeviceHasTheBitsOfFmod) {
  Arguments arguments = {AnyFloats(1 << 18, 35), AnyFloats(1 << 18, 36)};
  std::mt19937 rng(37);
  for (size_t i = 0; i < arguments.x.size(); i += 2) {
    const float y = arguments.y[i];
    const float x = y * static_cast<float>(rng() % 100000);
    arguments.x[i] = std::nextafter(x, i % 4 == 0 ? kInfinity : 0);
  }
  ExpectSameBits(
      "kernels/formulas/exact_remainder.clh", "tim_remainder",
      [](float x, float y) { return std::fmod(x, y); }, arguments);
}

}  // namespace
}  // namespace tim::testing
