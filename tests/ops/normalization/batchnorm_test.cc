#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

Result<TestNode> BatchNorm(const TensorDesc& input, const TensorDesc& parameter,
                           std::map<int, TensorData> constants = {}) {
  TensorDesc undeclared = input;
  undeclared.shape = ir::Shape();
  return MakeNode("tim.BatchNorm", {{"eps", 0.25}},
                  {input, parameter, parameter, parameter, parameter},
                  {undeclared}, std::move(constants));
}

TEST(BatchNorm, HandCheckedChannels) {
  const auto node = BatchNorm(F32({2, 2, 1}), F32({2}));
  ASSERT_OK(node);
  // (x - mean) / sqrt(variance + 0.25) * gamma + beta
  const auto outputs =
      Eval(*node, {MakeTensor<float>(F32({2, 2, 1}), {1, 2, 3, 4}),
                   MakeTensor<float>(F32({2}), {1, 2}),
                   MakeTensor<float>(F32({2}), {3.75f, 0}),
                   MakeTensor<float>(F32({2}), {4, 1}),
                   MakeTensor<float>(F32({2}), {10, 20})});
  ASSERT_OK(outputs);
  EXPECT_EQ(Values<float>((*outputs)[0]), (std::vector<float>{10, 12, 22, 24}));
}

// Which axis has the channels: the first up to rank 2, then the last but one.
TEST(BatchNorm, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(51);
  const std::map<Ints, int> axes = {{{5}, 0},
                                    {{5, 7}, 0},
                                    {{7, 5, 3}, 1},
                                    {{3, 4, 17, 2}, 2},
                                    {{2, 3, 4, 5, 2}, 3}};
  for (const auto& [dims, axis] : axes) {
    const auto node = BatchNorm(F32(dims), F32({dims[axis]}));
    ASSERT_OK(node);
    std::vector<TensorData> inputs = RandomInputs(*node, rng);
    std::vector<float> variance = Values<float>(inputs[2]);
    for (float& value : variance) value = std::fabs(value);
    inputs[2] = MakeTensor(inputs[2].desc, variance);
    const auto outputs = Eval(*node, inputs);
    ASSERT_OK(outputs);
    std::vector<double> expected;
    const std::vector<double> x = RealValues(inputs[0]);
    int64_t step = 1;
    for (int i = 0; i < axis; ++i) step *= dims[i];
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = i / step % dims[axis];
      const auto at = [&](int input) { return RealValues(inputs[input])[c]; };
      expected.push_back(at(3) * (x[i] - at(1)) / std::sqrt(at(2) + 0.25) +
                         at(4));
    }
    EXPECT_OK(CheckReal((*outputs)[0], expected,
                        {.absolute = 3e-6, .relative = 3e-7}));
    EXPECT_OK(CheckKernels(*node, inputs));
  }
}

TEST(BatchNorm, ConstantParametersGiveTheSameBits) {
  std::mt19937 rng = SeededRng(52);
  const TensorDesc desc = F32({5, 6, 20, 2});
  const auto variable = BatchNorm(desc, F32({20}));
  ASSERT_OK(variable);
  std::vector<TensorData> inputs = RandomInputs(*variable, rng);
  for (std::byte& byte : inputs[2].bytes) byte &= std::byte{0x3f};
  const auto constant = BatchNorm(
      desc, F32({20}),
      {{1, inputs[1]}, {2, inputs[2]}, {3, inputs[3]}, {4, inputs[4]}});
  ASSERT_OK(constant);
  ASSERT_EQ(LayoutCount(*constant, "batchnorm"), 2);
  for (const int layout : {0, 1}) {
    const auto a = RunKernel(*variable, "batchnorm", layout, inputs);
    const auto b = RunKernel(*constant, "batchnorm", layout, {inputs[0]});
    ASSERT_OK(a);
    ASSERT_OK(b);
    EXPECT_EQ((*a)[0].bytes, (*b)[0].bytes);
  }
  // One launch alone where the table is a constant.
  EXPECT_EQ(LaunchesOf(*variable, "batchnorm", TestDevice())->size(), 2u);
  EXPECT_EQ(LaunchesOf(*constant, "batchnorm", TestDevice())->size(), 1u);
}

TEST(BatchNorm, NoBlocksWhereParametersVaryWithinAPlane) {
  const TensorDesc desc = F32({5, 6, 20, 2});
  const auto node = BatchNorm(desc, F32({5, 1, 20}));
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, "batchnorm"), 1);
}

// Tail lanes of blocks hold the real value 0, which this type does not have.
TEST(BatchNorm, NoBlocksWhereTheOutputHasNoZero) {
  const auto node =
      MakeNode("tim.BatchNorm", {{"eps", 0.25}},
               {F32({5, 6, 20, 2}), F32({20}), F32({20}), F32({20}), F32({20})},
               {Desc(DataType::kUint8, {5, 6, 20, 2}, 0.5f, -3)});
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, "batchnorm"), 1);
}

}  // namespace
}  // namespace tim::testing
