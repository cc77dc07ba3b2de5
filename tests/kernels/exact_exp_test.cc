// What tests/kernels/exact_functions_test.cc does not know.
#include "kernels/exact_exp.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace tim::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

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
