#include "kernels/exact_log2.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/support/kernels/float_probe.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

constexpr char kProbes[] = R"(
__kernel void probe_1(__global const float* x, int xo, __global float* y,
                      int yo) {
  const int i = get_global_id(0);
  y[yo + i] = tim_log2_float(x[xo + i]);
}
__kernel void probe_16(__global const float* x, int xo, __global float* y,
                       int yo) {
  const int i = get_global_id(0);
  vstore16(tim_log2_float16(vload16(i, x + xo)), i, y + yo);
}
)";

// Every float takes a minute, so only the long suite tries them all; around 1,
// where the result is small, more of them.
TEST(ExactLog2, WithinItsBoundOverTheWholeRange) {
  const bool all = std::getenv("TIMCL_TEST_LONG") != nullptr;
  const auto last = std::bit_cast<uint32_t>(kInfinity);
  for (uint32_t bits = 1; bits < last;) {
    const float x = std::bit_cast<float>(bits);
    ASSERT_LE(UlpError(kernels::Log2(x), std::log2(static_cast<double>(x))),
              1.25)
        << x;
    bits += all ? 1 : x > 0.7f && x < 1.42f ? 13 : 509;
  }
}

TEST(ExactLog2, DeviceHasTheSameBits) {
  std::vector<float> x = AnyFloats(1 << 20, 12);
  for (size_t i = 0; i < x.size() / 2; ++i) {  // around 1
    x[i] = std::bit_cast<float>((std::bit_cast<uint32_t>(x[i]) & 0x00ffffffu) +
                                0x3f000000u);
  }
  std::vector<float> expected;
  for (const float value : x) expected.push_back(kernels::Log2(value));
  for (const auto& [kernel, lanes] :
       {std::pair("probe_1", 1), std::pair("probe_16", 16)}) {
    const auto y = RunProbe({"ops/normalization/localresponsenormalization.cl",
                             kProbes, kernel, lanes},
                            {x});
    ASSERT_OK(y);
    EXPECT_EQ(Differences({x}, *y, expected), 0) << kernel;
  }
}

TEST(ExactLog2, SpecialValues) {
  EXPECT_EQ(kernels::Log2(1.0f), 0.0f);
  for (int exponent = -149; exponent < 128; ++exponent) {
    EXPECT_EQ(kernels::Log2(std::ldexp(1.0f, exponent)), exponent);
  }
  EXPECT_EQ(kernels::Log2(0.0f), -kInfinity);
  EXPECT_EQ(kernels::Log2(-0.0f), -kInfinity);
  EXPECT_EQ(kernels::Log2(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(kernels::Log2(-1.0f)));
  EXPECT_TRUE(std::isnan(kernels::Log2(-kInfinity)));
  EXPECT_TRUE(std::isnan(kernels::Log2(kNaN)));
}

}  // namespace
}  // namespace tim::testing
