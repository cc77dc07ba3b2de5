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

Result<TestNode> L2(const TensorDesc& input, int64_t axis) {
  TensorDesc undeclared = input;
  undeclared.shape = ir::Shape();
  return MakeNode("tim.L2Normalization", {{"axis", axis}}, {input},
                  {undeclared});
}

std::vector<float> EvalFloats(const TestNode& node,
                              const std::vector<float>& x) {
  const auto outputs = Eval(node, {MakeTensor(node.input(0), x)});
  return outputs.ok() ? Values<float>((*outputs)[0]) : std::vector<float>();
}

TEST(L2Normalization, HandCheckedColumns) {
  const auto node = L2(Desc(DataType::kFloat32, {2, 2}), 1);
  ASSERT_OK(node);
  const std::vector<float> y = EvalFloats(*node, {3, 0, 4, -2});
  ASSERT_EQ(y.size(), 4u);
  EXPECT_FLOAT_EQ(y[0], 0.6f);
  EXPECT_FLOAT_EQ(y[1], 0.0f);
  EXPECT_FLOAT_EQ(y[2], 0.8f);
  EXPECT_FLOAT_EQ(y[3], -1.0f);
}

TEST(L2Normalization, ZerosStayZeros) {
  const TensorDesc desc = Desc(DataType::kFloat32, {100});
  const auto node = L2(desc, 0);
  ASSERT_OK(node);
  const std::vector<float> zeros(100, 0.0f);
  EXPECT_EQ(EvalFloats(*node, zeros), zeros);
  EXPECT_OK(CheckKernels(*node, {MakeTensor(desc, zeros)}));
}

TEST(L2Normalization, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(21);
  const TensorDesc desc = Desc(DataType::kFloat32, {7, 130, 3});
  for (const int64_t axis : {0, 1, 2}) {
    const auto node = L2(desc, axis);
    ASSERT_OK(node);
    const TensorData input = RandomTensor(desc, rng);
    const auto outputs = Eval(*node, {input});
    ASSERT_OK(outputs);
    const std::vector<double> x = RealValues(input);
    const std::vector<int64_t> dims = desc.shape.dims();
    int64_t step = 1;
    for (int64_t i = 0; i < axis; ++i) step *= dims[i];
    std::vector<double> expected(x.size());
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
      const int64_t first = i - i / step % dims[axis] * step;
      double squares = 0;
      for (int64_t k = 0; k < dims[axis]; ++k) {
        squares += x[first + k * step] * x[first + k * step];
      }
      expected[i] = x[i] / std::sqrt(std::max(squares, 1e-12));
    }
    EXPECT_OK(CheckReal((*outputs)[0], expected,
                        {.absolute = 1e-30, .relative = 4e-7}));
    EXPECT_OK(CheckKernels(*node, {input}));
  }
}

TEST(L2Normalization, InfinityAndNaNFollowTheFormula) {
  const TensorDesc desc = Desc(DataType::kFloat32, {3, 2});
  const auto node = L2(desc, 0);
  ASSERT_OK(node);
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {1, inf, 2, 1, nan, 2};
  const std::vector<float> y = EvalFloats(*node, x);
  ASSERT_EQ(y.size(), 6u);
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_TRUE(std::isnan(y[1]));
  for (int i = 3; i < 6; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_OK(CheckKernels(*node, {MakeTensor(desc, x)}));
}

}  // namespace
}  // namespace tim::testing
