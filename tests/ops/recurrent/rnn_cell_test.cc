#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;
using Ints = std::vector<int64_t>;

constexpr float kTolerance = 2e-6f;

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }
TensorDesc Inferred() {
  TensorDesc desc = F32({});
  desc.shape = ir::Shape();
  return desc;
}

// input, weights, bias, state, recurrent weights
std::vector<std::optional<TensorDesc>> Operands(int64_t width, int64_t units,
                                                int64_t batch) {
  return {F32({width, batch}), F32({width, units}), F32({units}),
          F32({units, batch}), F32({units, units})};
}

// The formula in double.
std::vector<double> Reference(const std::vector<TensorData>& in) {
  const auto x = Values<float>(in[0]);
  const auto w = Values<float>(in[1]);
  const auto b = Values<float>(in[2]);
  const auto h = Values<float>(in[3]);
  const auto r = Values<float>(in[4]);
  const size_t units = b.size();
  const size_t batch = h.size() / units;
  const size_t width = x.size() / batch;
  std::vector<double> out;
  for (size_t n = 0; n < batch; ++n) {
    for (size_t u = 0; u < units; ++u) {
      double sum = b[u];
      for (size_t i = 0; i < width; ++i) {
        sum += double{w[u * width + i]} * x[n * width + i];
      }
      for (size_t v = 0; v < units; ++v) {
        sum += double{r[u * units + v]} * h[n * units + v];
      }
      out.push_back(std::tanh(sum));
    }
  }
  return out;
}

TEST(RnnCell, HandChecked) {
  const auto node =
      MakeNode("tim.RNNCell", {}, Operands(2, 1, 1), {Inferred()});
  ASSERT_OK(node);
  // 2 * 0.5 - 1 * 0.25 + 0.125 + 3 * -0.5 = -0.625
  const std::vector<TensorData> inputs = {
      MakeTensor<float>(F32({2, 1}), {2, 1}),
      MakeTensor<float>(F32({2, 1}), {0.5f, -0.25f}),
      MakeTensor<float>(F32({1}), {0.125f}),
      MakeTensor<float>(F32({1, 1}), {3}),
      MakeTensor<float>(F32({1, 1}), {-0.5f})};
  const float expected = std::tanh(-0.625f);
  for (const auto& found : {Eval(*node, inputs), RunCompiled(*node, inputs)}) {
    ASSERT_OK(found);
    EXPECT_THAT(Values<float>((*found)[0]),
                ElementsAre(FloatNear(expected, kTolerance)));
  }
}

TEST(RnnCell, EvalAndInnerOperatorsGiveTheFormula) {
  std::mt19937 rng = SeededRng(1);
  for (const int64_t units : {1, 4, 7, 31, 32, 33, 64}) {
    SCOPED_TRACE(units);
    const auto node = MakeNode("tim.RNNCell", {}, Operands(5, units, 3),
                               {Inferred(), Inferred()});
    ASSERT_OK(node);
    for (int run = 0; run < 2; ++run) {
      const auto inputs = RandomInputs(*node, rng);
      const std::vector<double> expected = Reference(inputs);
      for (const auto& found :
           {Eval(*node, inputs), RunCompiled(*node, inputs)}) {
        ASSERT_OK(found);
        for (const TensorData& output : *found) {
          EXPECT_EQ(output.desc.shape, ir::Shape({units, 3}));
          EXPECT_THAT(Values<float>(output),
                      Pointwise(FloatNear(kTolerance * units), expected));
        }
      }
    }
  }
}

TEST(RnnCell, RefusesOtherRanks) {
  auto operands = Operands(2, 3, 1);
  operands[3] = F32({3});
  EXPECT_ERROR(MakeNode("tim.RNNCell", {}, operands, {Inferred()}),
               "input 3 must have rank 2, found [3]");
}

TEST(RnnCell, RefusesExtentsThatWouldBroadcast) {
  const auto refusal = [](int input, Ints shape) {
    auto operands = Operands(3, 4, 2);
    operands[input] = F32(shape);
    return MakeNode("tim.RNNCell", {}, operands, {Inferred()});
  };
  EXPECT_ERROR(refusal(3, {4, 1}), "input 3 is [4, 1], but input [3, 2]");
  EXPECT_ERROR(refusal(4, {4, 1}), "need [4, 4]");
  EXPECT_ERROR(refusal(1, {5, 4}), "input 1 is [5, 4]");
  EXPECT_ERROR(refusal(2, {1}), "need [4]");
}

TEST(RnnCell, RefusesAMissingBias) {
  auto operands = Operands(2, 3, 1);
  operands[2] = std::nullopt;
  EXPECT_ERROR(MakeNode("tim.RNNCell", {}, operands, {Inferred()}),
               "input 2 is not bound");
}

}  // namespace
}  // namespace tim::testing
