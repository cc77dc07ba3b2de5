#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Result<TestNode> LogSoftmax(const TensorDesc& input, int64_t axis,
                            double beta) {
  TensorDesc undeclared = input;
  undeclared.shape = ir::Shape();
  return MakeNode("tim.LogSoftmax", {{"axis", axis}, {"beta", beta}}, {input},
                  {undeclared});
}

TEST(LogSoftmax, HandCheckedRow) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4});
  const auto node = LogSoftmax(desc, 0, 1.0);
  ASSERT_OK(node);
  // Parts of 1/8, 1/4, 1/2 and 1/8.
  const float ln2 = 0.693147182f;
  const auto outputs =
      Eval(*node, {MakeTensor<float>(desc, {ln2, 2 * ln2, 3 * ln2, ln2})});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  const float expected[] = {-3 * ln2, -2 * ln2, -ln2, -3 * ln2};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 2e-7f) << i;
}

TEST(LogSoftmax, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(71);
  const std::vector<int64_t> dims = {7, 133, 3};
  const TensorDesc desc = Desc(DataType::kFloat32, dims);
  for (const double beta : {1.0, 0.25, -2.0}) {
    for (const int64_t axis : {0, 1, 2}) {
      const auto node = LogSoftmax(desc, axis, beta);
      ASSERT_OK(node);
      const TensorData input = RandomTensor(desc, rng);
      const auto outputs = Eval(*node, {input});
      ASSERT_OK(outputs);
      const std::vector<double> x = RealValues(input);
      int64_t step = 1;
      for (int64_t i = 0; i < axis; ++i) step *= dims[i];
      std::vector<double> expected;
      for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
        const int64_t first = i - i / step % dims[axis] * step;
        double sum = 0;
        for (int64_t k = 0; k < dims[axis]; ++k) {
          sum += std::exp(beta * (x[first + k * step] - x[i]));
        }
        expected.push_back(-std::log(sum));
      }
      EXPECT_OK(CheckReal((*outputs)[0], expected,
                          {.absolute = 5e-7, .relative = 3e-7}));
      EXPECT_OK(CheckKernels(*node, {input}));
    }
  }
}

TEST(LogSoftmax, InfinitiesFollowTheFormula) {
  const TensorDesc desc = Desc(DataType::kFloat32, {3, 4});
  const auto node = LogSoftmax(desc, 0, 1.0);
  ASSERT_OK(node);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorData input =
      MakeTensor<float>(desc, {0, 0, -kInfinity,                    // masked
                               1, nan, 2,                           //
                               -kInfinity, -kInfinity, -kInfinity,  //
                               0, -1e30f, -200.0f});  // powers of 0
  const auto outputs = Eval(*node, {input});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  EXPECT_NEAR(y[0], -0.693147182f, 1e-7f);
  EXPECT_EQ(y[2], -kInfinity);
  for (int i = 3; i < 9; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[9], 0.0f);
  EXPECT_EQ(y[10], -1e30f);
  EXPECT_EQ(y[11], -200.0f);
  EXPECT_OK(CheckKernels(*node, {input}));
}

// Of a negative beta the least element is what the others are measured from,
// so that no power is infinite.
TEST(LogSoftmax, NegativeBetaStaysFinite) {
  const TensorDesc desc = Desc(DataType::kFloat32, {2});
  const auto node = LogSoftmax(desc, 0, -1.0);
  ASSERT_OK(node);
  const TensorData input = MakeTensor<float>(desc, {0, 500});
  const auto outputs = Eval(*node, {input});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<float>((*outputs)[0]), (std::vector<float>{0, -500}));
  EXPECT_OK(CheckKernels(*node, {input}));
}

}  // namespace
}  // namespace tim::testing
