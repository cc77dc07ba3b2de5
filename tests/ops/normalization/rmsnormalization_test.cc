#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

Result<TestNode> RmsNorm(const std::vector<std::optional<TensorDesc>>& inputs,
                         int64_t axis, double eps) {
  TensorDesc undeclared = *inputs[0];
  undeclared.shape = ir::Shape();
  return MakeNode("tim.RmsNormalization", {{"axis", axis}, {"eps", eps}},
                  inputs, {undeclared});
}

TEST(RmsNormalization, HandCheckedRow) {
  const auto node = RmsNorm({F32({4}), F32({4})}, 0, 0.75);
  ASSERT_OK(node);
  // Mean of the squares (1 + 4 + 4 + 4) / 4 = 3.25, with eps 4.
  const auto outputs = Eval(*node, {MakeTensor<float>(F32({4}), {1, -2, 2, 2}),
                                    MakeTensor<float>(F32({4}), {1, 1, 0, 3})});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<float>((*outputs)[0]), (std::vector<float>{0.5, -1, 0, 3}));
}

TEST(RmsNormalization, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(41);
  for (const bool scaled : {true, false}) {
    for (const int64_t count : {1, 2, 31, 63, 64, 65, 127, 128, 1000, 5000}) {
      SCOPED_TRACE(StrCat(count, " elements, gamma: ", scaled));
      std::vector<std::optional<TensorDesc>> descs = {F32({count, 5})};
      if (scaled) descs.push_back(F32({count}));
      const auto node = RmsNorm(descs, 0, 1e-5);
      ASSERT_OK(node);
      const std::vector<TensorData> inputs = RandomInputs(*node, rng);
      const auto outputs = Eval(*node, inputs);
      ASSERT_OK(outputs);
      std::vector<double> expected = RealValues(inputs[0]);
      for (size_t first = 0; first < expected.size();
           first += static_cast<size_t>(count)) {
        double mean = 0;
        for (int64_t k = 0; k < count; ++k) {
          mean += std::pow(expected[first + k], 2) / static_cast<double>(count);
        }
        for (int64_t k = 0; k < count; ++k) {
          expected[first + k] /= std::sqrt(mean + 1e-5);
          if (scaled) expected[first + k] *= RealValues(inputs[1])[k];
        }
      }
      EXPECT_OK(CheckReal((*outputs)[0], expected,
                          {.absolute = 1e-30, .relative = 8e-7}));
      EXPECT_OK(CheckKernels(*node, inputs));
    }
  }
}

// A gamma along the rows, across them, and of both.
TEST(RmsNormalization, GammaLiesInAnyPlace) {
  std::mt19937 rng = SeededRng(42);
  for (const Ints& gamma : {Ints{130}, Ints{7, 1, 3}, Ints{7, 130, 3}}) {
    SCOPED_TRACE(StrCat("gamma of rank ", gamma.size()));
    const auto node = RmsNorm({F32({7, 130, 3}), F32(gamma)}, 1, 1e-3);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, RandomInputs(*node, rng)));
  }
}

TEST(RmsNormalization, ZerosStayZeros) {
  const TensorDesc desc = F32({100});
  const auto node = RmsNorm({desc}, 0, 1e-6);
  ASSERT_OK(node);
  const std::vector<float> zeros(100, 0.0f);
  const auto outputs = Eval(*node, {MakeTensor(desc, zeros)});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<float>((*outputs)[0]), zeros);
}

}  // namespace
}  // namespace tim::testing
