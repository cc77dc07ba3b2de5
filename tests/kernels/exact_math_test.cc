// 1/x and sqrt(x) of kernels/exact_math.clh, whose twins are 1.0f / x and
// std::sqrt(x).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/kernels/float_probe.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

constexpr char kProbes[] = R"(
__kernel void reciprocal(__global const float* x, int xo, __global float* y,
                         int yo) {
  const int i = get_global_id(0);
  y[yo + i] = tim_reciprocal(x[xo + i]);
}
__kernel void square_root(__global const float* x, int xo, __global float* y,
                          int yo) {
  const int i = get_global_id(0);
  y[yo + i] = tim_sqrt(x[xo + i]);
}
)";

// A function of exact_math.clh on the first OpenCL device.
Result<std::vector<float>> OnDevice(const char* function, int lanes,
                                    const std::vector<float>& x) {
  // Any program that includes exact_math.clh.
  return RunProbe({"ops/normalization/softmax.cl", kProbes, function, lanes},
                  {x});
}

TEST(Reciprocal, DeviceIsCorrectlyRounded) {
  const std::vector<float> x = AnyFloats(1 << 20, 6);
  std::vector<float> expected;
  for (const float v : x) expected.push_back(1.0f / v);
  const auto y = OnDevice("reciprocal", 1, x);
  ASSERT_OK(y);
  EXPECT_EQ(Differences({x}, *y, expected), 0);
}

TEST(Sqrt, DeviceIsCorrectlyRounded) {
  const std::vector<float> x = AnyFloats(1 << 20, 7);
  std::vector<float> expected;
  for (const float v : x) expected.push_back(std::sqrt(v));
  const auto y = OnDevice("square_root", 1, x);
  ASSERT_OK(y);
  EXPECT_EQ(Differences({x}, *y, expected), 0);
}

}  // namespace
}  // namespace tim::testing
