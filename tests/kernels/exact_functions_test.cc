// Functions of kernels/exact_exp, exact_log, exact_erf, exact_root and
// exact_trigonometry: their bounds, and that devices have the bits of the host.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/exact_exp.h"
#include "kernels/formulas/exact_erf.h"
#include "kernels/formulas/exact_log.h"
#include "kernels/formulas/exact_trigonometry.h"
#include "tests/support/kernels/float_probe.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using Real = long double;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr char kExp[] = "kernels/exact_exp.clh";
constexpr char kLog[] = "kernels/formulas/exact_log.clh";
constexpr char kRoot[] = "kernels/formulas/exact_root.clh";
constexpr char kErf[] = "kernels/formulas/exact_erf.clh";
constexpr char kTrigonometry[] = "kernels/formulas/exact_trigonometry.clh";

struct Function {
  const char* name;  // tim_<name>_float
  const char* header;
  float (*twin)(float x);
  Real (*reference)(Real x);
  double ulps;  // the bound that the headers state
};

// The limit where both factors have one.
Real Product(Real x, Real factor) { return factor == 0 ? 0 : x * factor; }

Real Mish(Real x) {
  if (x > 50) return x;
  const Real e = std::exp(x);
  const Real n = e * (e + 2);
  return Product(x, n / (n + 2));
}

Real GeluTanh(Real x) {
  if (std::fabs(x) > 1e6L) return x > 0 ? x : 0;
  const Real root = std::sqrt(2 / std::numbers::pi_v<Real>);
  return x / (1 + std::exp(-2 * root * (x + 0.044715L * x * x * x)));
}

const Function kFunctions[] = {
    {"exp", kExp, kernels::Exp, [](Real x) { return std::exp(x); }, 1},
    {"sigmoid", kExp, kernels::Sigmoid,
     [](Real x) { return 1 / (1 + std::exp(-x)); }, 3},
    {"tanh", kExp, kernels::Tanh, [](Real x) { return std::tanh(x); }, 3},
    {"expm1", kExp, kernels::Expm1, [](Real x) { return std::expm1(x); }, 2},
    {"swish", kExp, kernels::Swish,
     [](Real x) { return Product(x, 1 / (1 + std::exp(-x))); }, 4},
    {"mish", kExp, kernels::Mish, Mish, 5},
    {"gelu_tanh", kExp, kernels::GeluTanh, GeluTanh, 5},
    {"log", kLog, kernels::Log, [](Real x) { return std::log(x); }, 2},
    {"softplus", kLog, kernels::Softplus,
     [](Real x) { return x > 100 ? x : std::log1p(std::exp(x)); }, 3},
    {"atanh", kLog, kernels::Atanh, [](Real x) { return std::atanh(x); }, 3},
    {"acosh", kLog, kernels::Acosh, [](Real x) { return std::acosh(x); }, 3},
    {"erf", kErf, kernels::Erf, [](Real x) { return std::erf(x); }, 2},
    {"gelu_erf", kErf, kernels::GeluErf,
     [](Real x) { return Product(x, std::erfc(-x / std::sqrt(Real{2})) / 2); },
     7},
    {"sqrt", kRoot, [](float x) { return std::sqrt(x); },
     [](Real x) { return std::sqrt(x); }, 0.5},
    {"sin", kTrigonometry, kernels::Sin, [](Real x) { return std::sin(x); }, 2},
    {"cos", kTrigonometry, kernels::Cos, [](Real x) { return std::cos(x); }, 2},
    {"tan", kTrigonometry, kernels::Tan, [](Real x) { return std::tan(x); }, 4},
    {"atan", kTrigonometry, kernels::Atan, [](Real x) { return std::atan(x); },
     3},
};

class ExactFunctions : public ::testing::TestWithParam<Function> {};

// Distance in units in the last place; 0 where both are the same infinity or
// NaN, 1 where only the rounding to float is infinite.
double Ulps(float actual, Real expected) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(nearest) || std::isnan(actual)) {
    return std::isnan(nearest) && std::isnan(actual) ? 0 : kInfinity;
  }
  if (std::isinf(actual) || std::isinf(nearest)) {
    if (actual == nearest) return 0;
    const float least = std::fmin(std::fabs(actual), std::fabs(nearest));
    return least == std::numeric_limits<float>::max() ? 1 : kInfinity;
  }
  const int exponent = nearest == 0 ? -126 : std::ilogb(nearest);
  return static_cast<double>(
      std::fabs(actual - expected) /
      std::ldexp(Real{1}, std::max(exponent, -126) - 23));
}

// Every float takes minutes, so only the long suite tries them all.
TEST_P(ExactFunctions, AreWithinTheirBoundsOverTheWholeRange) {
  const Function& function = GetParam();
  const uint32_t step = RunsLongTests() ? 1 : 6007;
  const auto last = std::bit_cast<uint32_t>(kInfinity);
  for (uint32_t bits = 0; bits <= last; bits += step) {
    const float t = std::bit_cast<float>(bits);
    for (const float x : {t, -t}) {
      ASSERT_LE(Ulps(function.twin(x), function.reference(x)), function.ulps)
          << function.name << " of " << x;
    }
  }
}

TEST_P(ExactFunctions, KeepNanAndHaveTheirLimits) {
  const Function& function = GetParam();
  EXPECT_TRUE(std::isnan(function.twin(NAN)));
  for (const float x : {kInfinity, -kInfinity, 1e30f, -1e30f, 0.0f, -0.0f}) {
    EXPECT_LE(Ulps(function.twin(x), function.reference(x)), function.ulps)
        << function.name << " of " << x;
  }
}

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

TEST_P(ExactFunctions, HaveTheSameBitsOnDevices) {
  const Function& function = GetParam();
  const std::vector<float> x = Arguments(1 << 18, 11);
  std::vector<float> expected;
  for (const float value : x) expected.push_back(function.twin(value));
  for (const auto& [kernel, lanes] :
       {std::pair("probe_1", 1), std::pair("probe_16", 16)}) {
    const auto y =
        RunProbe({function.header, Probes(function.name), kernel, lanes}, {x});
    ASSERT_OK(y);
    EXPECT_EQ(Differences({x}, *y, expected), 0) << kernel;
  }
}

// Roots without an instruction of the processor.
TEST(Root, OfAllDevices) {
  const std::vector<float> x = Arguments(1 << 18, 12);
  std::vector<float> expected;
  for (const float value : x) expected.push_back(std::sqrt(value));
  for (const auto& [kernel, lanes] :
       {std::pair("probe_1", 1), std::pair("probe_16", 16)}) {
    const auto y =
        RunProbe({kRoot, Probes("sqrt"), kernel, lanes, "-DTIM_PORTABLE"}, {x});
    ASSERT_OK(y);
    EXPECT_EQ(Differences({x}, *y, expected), 0) << kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExactFunctions, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tim::testing
