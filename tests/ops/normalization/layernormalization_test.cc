#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/op_schema.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

Result<TestNode> LayerNorm(const TensorDesc& input, int64_t axis, double eps,
                           const TensorDesc& parameter) {
  TensorDesc undeclared = input;
  undeclared.shape = ir::Shape();
  return MakeNode("tim.LayerNormalization", {{"axis", axis}, {"eps", eps}},
                  {input, parameter, parameter}, {undeclared});
}

// y of rows along axis 0, in double.
std::vector<double> Reference(const TensorData& x, const TensorData& beta,
                              const TensorData& gamma, double eps) {
  const std::vector<double> values = RealValues(x);
  const std::vector<double> b = RealValues(beta);
  const std::vector<double> g = RealValues(gamma);
  const auto count = static_cast<int64_t>(b.size());
  std::vector<double> out(values.size());
  for (int64_t first = 0; first < static_cast<int64_t>(values.size());
       first += count) {
    double mean = 0;
    for (int64_t k = 0; k < count; ++k) mean += values[first + k];
    mean /= static_cast<double>(count);
    double variance = 0;
    for (int64_t k = 0; k < count; ++k) {
      variance += std::pow(values[first + k] - mean, 2);
    }
    variance /= static_cast<double>(count);
    for (int64_t k = 0; k < count; ++k) {
      out[first + k] =
          g[k] * (values[first + k] - mean) / std::sqrt(variance + eps) + b[k];
    }
  }
  return out;
}

TEST(LayerNormalization, HandCheckedRow) {
  const auto node = LayerNorm(F32({4}), 0, 0.25, F32({4}));
  ASSERT_OK(node);
  // Mean 3, variance (4 + 0 + 1 + 1) / 4 = 1.5.
  const auto outputs = Eval(*node, {MakeTensor<float>(F32({4}), {5, 3, 2, 2}),
                                    MakeTensor<float>(F32({4}), {0, 1, 2, 3}),
                                    MakeTensor<float>(F32({4}), {1, 1, 2, 4})});
  ASSERT_OK(outputs);
  const std::vector<float> y = Values<float>((*outputs)[0]);
  const double inverse = 1 / std::sqrt(1.75);
  const double expected[] = {2 * inverse, 1, 2 - 2 * inverse, 3 - 4 * inverse};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 1e-6) << i;
}

TEST(LayerNormalization, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(31);
  for (const int64_t count : {1, 2, 31, 63, 64, 65, 127, 128, 1000, 5000}) {
    for (const float shift : {0.0f, 100.0f}) {
      SCOPED_TRACE(StrCat(count, " elements around ", shift));
      const auto node = LayerNorm(F32({count, 5}), 0, 1e-5, F32({count}));
      ASSERT_OK(node);
      std::vector<TensorData> inputs = RandomInputs(*node, rng);
      std::vector<float> x = Values<float>(inputs[0]);
      for (float& value : x) value += shift;
      inputs[0] = MakeTensor(inputs[0].desc, x);
      const auto outputs = Eval(*node, inputs);
      ASSERT_OK(outputs);
      EXPECT_OK(CheckReal((*outputs)[0],
                          Reference(inputs[0], inputs[1], inputs[2], 1e-5),
                          {.absolute = 2e-6, .relative = 1e-6}));
      EXPECT_OK(CheckKernels(*node, inputs));
    }
  }
}

// A mean of some distance does not cost the variance its digits.
TEST(LayerNormalization, FarFromZero) {
  std::mt19937 rng = SeededRng(32);
  const auto node = LayerNorm(F32({777, 3}), 0, 1e-5, F32({777}));
  ASSERT_OK(node);
  std::vector<TensorData> inputs = RandomInputs(*node, rng);
  std::vector<float> x = Values<float>(inputs[0]);
  for (float& value : x) value += 1e5f;
  x[777] = -1e5f;  // the first of a row is an outlier
  inputs[0] = MakeTensor(inputs[0].desc, x);
  const auto outputs = Eval(*node, inputs);
  ASSERT_OK(outputs);
  EXPECT_OK(CheckReal((*outputs)[0],
                      Reference(inputs[0], inputs[1], inputs[2], 1e-5),
                      {.absolute = 3e-5, .relative = 3e-6}));
  EXPECT_OK(CheckKernels(*node, inputs));
}

TEST(LayerNormalization, RowsOfEqualElementsGiveBeta) {
  std::mt19937 rng = SeededRng(33);
  for (const DataType type : {DataType::kFloat32, DataType::kUint8}) {
    for (const int64_t count : {3, 64, 1000}) {
      TensorDesc desc = RandomDesc(type, {count}, rng);
      const auto node = LayerNorm(desc, 0, 1e-5, F32({count}));
      ASSERT_OK(node);
      std::vector<TensorData> inputs = RandomInputs(*node, rng);
      const size_t bytes = ir::Info(type).bits / 8;
      for (size_t i = bytes; i < inputs[0].bytes.size(); ++i) {
        inputs[0].bytes[i] = inputs[0].bytes[i - bytes];
      }
      const auto outputs = Eval(*node, inputs);
      ASSERT_OK(outputs);
      if (type == DataType::kFloat32) {
        EXPECT_EQ(Values<float>((*outputs)[0]), Values<float>(inputs[1]));
      } else {
        EXPECT_OK(CheckReal((*outputs)[0], RealValues(inputs[1])));
      }
      EXPECT_OK(CheckKernels(*node, inputs));
    }
  }
}

// A parameter of rank 1 lies along the axis, also where it would broadcast.
TEST(LayerNormalization, ParametersAlongTheAxis) {
  std::mt19937 rng = SeededRng(34);
  const TensorDesc desc = F32({3, 3, 2});
  const auto along = LayerNorm(desc, 1, 1e-5, F32({3}));
  const auto in_place = LayerNorm(desc, 1, 1e-5, F32({1, 3}));
  ASSERT_OK(along);
  ASSERT_OK(in_place);
  std::vector<TensorData> inputs = RandomInputs(*along, rng);
  const auto expected = Eval(*along, inputs);
  ASSERT_OK(expected);
  inputs[1].desc = inputs[2].desc = F32({1, 3});
  EXPECT_EQ((*Eval(*in_place, inputs))[0].bytes, (*expected)[0].bytes);
}

}  // namespace
}  // namespace tim::testing
