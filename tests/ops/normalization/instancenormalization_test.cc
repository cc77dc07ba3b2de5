#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

Result<TestNode> InstanceNorm(const TensorDesc& input, double eps) {
  const TensorDesc parameter = F32({input.shape[input.shape.rank() - 2]});
  TensorDesc undeclared = input;
  undeclared.shape = ir::Shape();
  return MakeNode("tim.InstanceNormalization", {{"eps", eps}},
                  {input, parameter, parameter}, {undeclared});
}

// In double.
std::vector<double> Reference(const std::vector<TensorData>& inputs,
                              double eps) {
  const std::vector<double> x = RealValues(inputs[0]);
  const std::vector<double> beta = RealValues(inputs[1]);
  const std::vector<double> gamma = RealValues(inputs[2]);
  const ir::Shape& shape = inputs[0].desc.shape;
  const size_t image = shape.Product(0, shape.rank() - 2);
  std::vector<double> out(x.size());
  for (size_t first = 0; first < x.size(); first += image) {
    const size_t c = first / image % beta.size();
    double mean = 0;
    double variance = 0;
    for (size_t i = 0; i < image; ++i) mean += x[first + i] / image;
    for (size_t i = 0; i < image; ++i) {
      variance += std::pow(x[first + i] - mean, 2) / image;
    }
    for (size_t i = 0; i < image; ++i) {
      out[first + i] =
          gamma[c] * (x[first + i] - mean) / std::sqrt(variance + eps) +
          beta[c];
    }
  }
  return out;
}

TEST(InstanceNormalization, HandCheckedImages) {
  const auto node = InstanceNorm(F32({2, 2, 1}), 0.75);
  ASSERT_OK(node);
  // Means 2 and 3, variances 1 and 0.25; betas 10 and 20, gammas 1 and 2.
  const auto outputs =
      Eval(*node, {MakeTensor<float>(F32({2, 2, 1}), {1, 3, 2.5f, 3.5f}),
                   MakeTensor<float>(F32({2}), {10, 20}),
                   MakeTensor<float>(F32({2}), {1, 2})});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  const double inverse = 1 / std::sqrt(1.75);
  const double expected[] = {10 - inverse, 10 + inverse, 19, 21};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 2e-6) << i;
}

// Images around the lengths of the kernels' vectors and sums, few and many.
TEST(InstanceNormalization, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(41);
  for (const Ints& shape :
       {Ints{1, 1, 1, 1}, Ints{7, 9, 3, 2}, Ints{8, 8, 17, 1}, Ints{65, 2, 3},
        Ints{3, 5, 2, 33, 2}, Ints{56, 56, 5, 1}}) {
    const auto node = InstanceNorm(F32(shape), 1e-4);
    ASSERT_OK(node);
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto outputs = Eval(*node, inputs);
    ASSERT_OK(outputs);
    EXPECT_OK(CheckReal((*outputs)[0], Reference(inputs, 1e-4),
                        {.absolute = 3e-6, .relative = 1e-6}))
        << node->input(0).ToString();
    EXPECT_OK(CheckKernels(*node, inputs));
  }
}

TEST(InstanceNormalization, ConstantImagesGiveBeta) {
  std::mt19937 rng = SeededRng(42);
  const auto node = InstanceNorm(F32({9, 11, 4, 2}), 1e-5);
  ASSERT_OK(node);
  std::vector<TensorData> inputs = RandomInputs(*node, rng);
  std::vector<float> x = Values<float>(inputs[0]);
  for (size_t i = 0; i < x.size(); ++i) x[i] = x[i / 99 * 99];
  inputs[0] = MakeTensor(inputs[0].desc, x);
  const auto outputs = Eval(*node, inputs);
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  const std::vector<float> beta = Values<float>(inputs[1]);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], beta[i / 99 % 4]) << i;
  EXPECT_OK(CheckKernels(*node, inputs));
}

TEST(InstanceNormalization, TakesBlocksOfChannels) {
  const auto node = InstanceNorm(F32({4, 4, 17, 2}), 1e-5);
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, "instancenormalization"), 2);
}

}  // namespace
}  // namespace tim::testing
