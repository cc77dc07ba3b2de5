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

struct Setting {
  int64_t size;
  double alpha;
  double beta;
  double bias;
};

Result<TestNode> Lrn(const TensorDesc& input, const Setting& setting,
                     int64_t axis) {
  TensorDesc undeclared = input;
  undeclared.shape = ir::Shape();
  return MakeNode("tim.LocalResponseNormalization",
                  {{"size", setting.size},
                   {"alpha", setting.alpha},
                   {"beta", setting.beta},
                   {"bias", setting.bias},
                   {"axis", axis}},
                  {input}, {undeclared});
}

TEST(LocalResponseNormalization, HandCheckedRow) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4});
  const auto node = Lrn(desc, {3, 4.0, 0.5, 9.0}, 0);
  ASSERT_OK(node);
  const auto outputs = Eval(*node, {MakeTensor<float>(desc, {1, -2, 0, 3})});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  EXPECT_FLOAT_EQ(y[0], static_cast<float>(1 / std::sqrt(9 + 4 * 5.0)));
  EXPECT_FLOAT_EQ(y[1], static_cast<float>(-2 / std::sqrt(9 + 4 * 5.0)));
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_FLOAT_EQ(y[3], static_cast<float>(3 / std::sqrt(9 + 4 * 9.0)));
}

TEST(LocalResponseNormalization, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(61);
  const std::vector<int64_t> dims = {5, 35, 3};
  const TensorDesc desc = Desc(DataType::kFloat32, dims);
  for (const Setting& setting :
       {Setting{5, 1e-4, 0.75, 1}, Setting{1, 2, 1, 0.5},
        Setting{4, 0.5, 0.6, 2}, Setting{1000000, 0.1, 2.5, 1}}) {
    for (const int64_t axis : {0, 1, 2}) {
      const auto node = Lrn(desc, setting, axis);
      ASSERT_OK(node);
      const TensorData input = RandomTensor(desc, rng);
      const auto outputs = Eval(*node, {input});
      ASSERT_OK(outputs);
      const std::vector<double> x = RealValues(input);
      int64_t step = 1;
      for (int64_t i = 0; i < axis; ++i) step *= dims[i];
      std::vector<double> expected;
      for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
        const int64_t k = i / step % dims[axis];
        double sum = 0;
        for (int64_t j = 0; j < dims[axis]; ++j) {
          if (std::abs(j - k) > setting.size / 2) continue;
          sum += std::pow(x[i + (j - k) * step], 2);
        }
        expected.push_back(
            x[i] / std::pow(setting.bias + setting.alpha * sum, setting.beta));
      }
      EXPECT_OK(CheckReal((*outputs)[0], expected,
                          {.absolute = 1e-30, .relative = 3e-6}))
          << "size " << setting.size << " axis " << axis;
      EXPECT_OK(CheckKernels(*node, {input}));
    }
  }
}

TEST(LocalResponseNormalization, SpecialValuesFollowTheFormula) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorDesc desc = Desc(DataType::kFloat32, {8});
  // A sum that is 0 or negative, too.
  for (const double bias : {1.0, 0.0, -5.0}) {
    const auto node = Lrn(desc, {3, 1.0, 0.5, bias}, 0);
    ASSERT_OK(node);
    const TensorData input =
        MakeTensor<float>(desc, {0, 0, 0, 1, nan, 1, 0, inf});
    const auto outputs = Eval(*node, {input});
    ASSERT_OK(outputs);
    const std::vector<float> y = Values<float>((*outputs)[0]);
    EXPECT_EQ(std::isnan(y[1]), bias <= 0) << bias;
    for (const int i : {3, 4, 5, 7}) EXPECT_TRUE(std::isnan(y[i])) << i;
    EXPECT_EQ(y[6], 0.0f);
    EXPECT_OK(CheckKernels(*node, {input}));
  }
}

}  // namespace
}  // namespace tim::testing
