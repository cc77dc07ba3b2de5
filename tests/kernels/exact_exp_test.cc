#include "kernels/exact_exp.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/kernels/float_probe.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char* name;  // tim_<name>_float
  float (*twin)(float x);
  double (*reference)(double x);
  double ulps;  // the bound that exact_exp.h states
};

const Function kFunctions[] = {
    {"exp", kernels::Exp, [](double x) { return std::exp(x); }, 1},
    {"sigmoid", kernels::Sigmoid,
     [](double x) {
       return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
     },
     3},
    {"tanh", kernels::Tanh, [](double x) { return std::tanh(x); }, 3},
};

std::string Probes(const std::string& name) {
  return StrCat(R"(
__kernel void probe_1(__global const float* x, int xo, __global float* y,
                      int yo) {
  const int i = get_global_id(0);
  y[yo + i] = tim_)",
                name, R"(_float(x[xo + i]);
}
__kernel void probe_16(__global const float* x, int xo, __global float* y,
                       int yo) {
  const int i = get_global_id(0);
  vstore16(tim_)",
                name, R"(_float16(vload16(i, x + xo)), i, y + yo);
}
)");
}

// Half of them where the functions bend, half of any exponent.
std::vector<float> Arguments(size_t count, uint32_t seed) {
  std::vector<float> x = AnyFloats(count, seed);
  for (size_t i = count / 2; i < count; ++i) {
    const uint32_t exponent = 127 + 7 - i % 24;
    x[i] = std::bit_cast<float>((std::bit_cast<uint32_t>(x[i]) & 0x807fffff) |
                                exponent << 23);
  }
  return x;
}

// Every float takes minutes, so only the long suite tries them all.
TEST(ExactExp, WithinTheirBoundsOverTheWholeRange) {
  const uint32_t step = RunsLongTests() ? 1 : 509;
  const auto last = std::bit_cast<uint32_t>(kInfinity);
  for (const Function& function : kFunctions) {
    for (uint32_t bits = 0; bits <= last; bits += step) {
      const float t = std::bit_cast<float>(bits);
      for (const float x : {t, -t}) {
        ASSERT_LE(UlpError(function.twin(x), function.reference(x)),
                  function.ulps)
            << function.name << " of " << x;
      }
    }
  }
}

TEST(ExactExp, DeviceHasTheSameBits) {
  const std::vector<float> x = Arguments(1 << 20, 11);
  for (const Function& function : kFunctions) {
    std::vector<float> expected;
    for (const float value : x) expected.push_back(function.twin(value));
    for (const auto& [kernel, lanes] :
         {std::pair("probe_1", 1), std::pair("probe_16", 16)}) {
      const auto y = RunProbe(
          {"kernels/exact_exp.clh", Probes(function.name), kernel, lanes}, {x});
      ASSERT_OK(y);
      EXPECT_EQ(Differences({x}, *y, expected), 0)
          << function.name << " " << kernel;
    }
  }
}

TEST(ExactExp, SpecialValues) {
  EXPECT_EQ(kernels::Exp(0.0f), 1.0f);
  EXPECT_EQ(kernels::Exp(kInfinity), kInfinity);
  EXPECT_EQ(kernels::Exp(89.0f), kInfinity);
  EXPECT_EQ(kernels::Exp(-kInfinity), 0.0f);
  EXPECT_EQ(kernels::Exp(-103.0f), 0x1p-149f);
  EXPECT_TRUE(std::isnan(kernels::Exp(kNaN)));
  EXPECT_EQ(kernels::Sigmoid(0.0f), 0.5f);
  EXPECT_EQ(kernels::Sigmoid(kInfinity), 1.0f);
  EXPECT_EQ(kernels::Sigmoid(-kInfinity), 0.0f);
  EXPECT_EQ(kernels::Sigmoid(-103.0f), 0x1p-149f);
  EXPECT_TRUE(std::isnan(kernels::Sigmoid(kNaN)));
  EXPECT_EQ(kernels::Tanh(kInfinity), 1.0f);
  EXPECT_EQ(kernels::Tanh(-kInfinity), -1.0f);
  EXPECT_EQ(kernels::Tanh(-0x1p-149f), -0x1p-149f);
  EXPECT_EQ(std::bit_cast<uint32_t>(kernels::Tanh(-0.0f)), 0x80000000u);
  EXPECT_TRUE(std::isnan(kernels::Tanh(kNaN)));
}

}  // namespace
}  // namespace tim::testing
