#include "bench/networks/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tim::bench {
namespace {

std::vector<float> Values(uint64_t stream, float bound, size_t count) {
  std::vector<float> values(count);
  FillValues(stream, bound, values);
  return values;
}

// The constants are what values() of bench/onnx_model.py gives; demanded
// equal, since both sides compute the same bits.
TEST(Values, AreThoseThatPythonComputes) {
  const std::vector<float> first = Values(0, 1.0f, 5000000);
  EXPECT_EQ(first[0], 0x1.3836e80000000p-2f);
  EXPECT_EQ(first[1], 0x1.9c15180000000p-2f);
  EXPECT_EQ(first[2], -0x1.ce56f00000000p-3f);
  EXPECT_EQ(first[4999999], 0x1.8fdc000000000p-5f);
  const std::vector<float> other = Values(7, 0.1f, 5000000);
  EXPECT_EQ(other[0], 0x1.6aeb400000000p-5f);
  EXPECT_EQ(other[1], 0x1.ea8d0e0000000p-6f);
  EXPECT_EQ(other[2], 0x1.43944e0000000p-7f);
  EXPECT_EQ(other[4999999], -0x1.c6c1c60000000p-5f);
}

TEST(Values, FillTheirRangeEvenly) {
  constexpr size_t kCount = 100000;
  const std::vector<float> values = Values(3, 2.0f, kCount);
  const auto [least, greatest] =
      std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -2.0f);
  EXPECT_LT(*least, -1.99f);
  EXPECT_LE(*greatest, 2.0f);
  EXPECT_GT(*greatest, 1.99f);
  double sum = 0;
  for (const float value : values) sum += value;
  EXPECT_NEAR(sum / kCount, 0, 0.02);
}

TEST(Values, OfTwoStreamsDiffer) {
  const std::vector<float> a = Values(1, 1.0f, 1000);
  const std::vector<float> b = Values(2, 1.0f, 1001);
  int equal = 0;
  for (size_t i = 0; i < a.size(); ++i)
    equal += a[i] == b[i] || a[i] == b[i + 1];
  EXPECT_LE(equal, 1);
}

}  // namespace
}  // namespace tim::bench
