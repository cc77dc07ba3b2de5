#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/data/sum_types.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;

AttributeMap Axis(int64_t axis) { return {{"axis", axis}}; }
TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }
const TensorDesc kInferred = {
    .type = DataType::kFloat32, .shape = {}, .quantization = {}, .layout = {}};

TEST(FullyConnected, SumsProducts) {
  const TensorDesc input = F32({2, 2});
  const TensorDesc weights = F32({2, 3});
  const TensorDesc bias = F32({3});
  const auto node = MakeNode("tim.FullyConnected", Axis(0),
                             {input, weights, bias}, {kInferred});
  ASSERT_OK(node);
  const std::vector<TensorData> inputs = {
      MakeTensor<float>(input, {1, 4, 2, 6}),
      MakeTensor<float>(weights, {-3, 3, 2, 1, 0, 4}),
      MakeTensor<float>(bias, {0.1f, 0.4f, 0.6f})};
  const auto result = Eval(*node, inputs);
  ASSERT_OK(result);
  EXPECT_EQ((*result)[0].desc.shape, ir::Shape({3, 2}));
  EXPECT_THAT(Values<float>((*result)[0]),
              ElementsAre(9.1f, 6.4f, 16.6f, 12.1f, 10.4f, 24.6f));
  EXPECT_OK(CheckKernels(*node, inputs, {1e-6, 1e-6}));
}

TEST(FullyConnected, ConstantWeightsKeepTrailingDims) {
  const TensorDesc input = F32({2, 3, 4, 5});
  const TensorDesc weights = F32({2, 3, 7});
  const TensorData data = MakeTensor<float>(weights, std::vector<float>(42));
  const auto constant = MakeNode("tim.FullyConnected", Axis(1),
                                 {input, weights}, {kInferred}, {{1, data}});
  ASSERT_OK(constant);
  EXPECT_EQ(constant->output().shape, ir::Shape({7, 4, 5}));
  const auto variable =
      MakeNode("tim.FullyConnected", Axis(1), {input, weights}, {kInferred});
  ASSERT_OK(variable);
  EXPECT_EQ(variable->output().shape, ir::Shape({7, 20}));
  const auto last = MakeNode("tim.FullyConnected", Axis(-1),
                             {F32({6}), weights}, {kInferred}, {{1, data}});
  ASSERT_OK(last);
  EXPECT_EQ(last->output().shape, ir::Shape({7}));
}

TEST(FullyConnected, DeclaredOutputNeedsOnlyTheElements) {
  EXPECT_OK(MakeNode("tim.FullyConnected", Axis(0), {F32({2, 6}), F32({2, 3})},
                     {F32({3, 2, 1, 3})}));
  EXPECT_ERROR(MakeNode("tim.FullyConnected", Axis(0),
                        {F32({2, 6}), F32({2, 3})}, {F32({3, 5})}),
               "declared as [3, 5]");
}

TEST(FullyConnected, InfersWithUnknownExtents) {
  const auto shape_of = [](ir::Shape input, ir::Shape weights) {
    TensorDesc x = kInferred;
    TensorDesc w = kInferred;
    x.shape = std::move(input);
    w.shape = std::move(weights);
    const auto node =
        MakeNode("tim.FullyConnected", Axis(0), {x, w}, {TensorDesc()});
    EXPECT_OK(node);
    EXPECT_EQ(node->output().type, DataType::kFloat32);
    return node->output().shape.ToString();
  };
  EXPECT_EQ(shape_of({}, {}), "[...]");
  EXPECT_EQ(shape_of({}, {2, 3}), "[...]");
  EXPECT_EQ(shape_of({2, 5}, {}), "[?, 5]");
  EXPECT_EQ(shape_of({-1, 5}, {2, 3}), "[3, 5]");
  EXPECT_EQ(shape_of({2, -1}, {2, -1}), "[?, ?]");
}

TEST(FullyConnected, RejectsBadOperands) {
  const auto make = [](AttributeMap attributes, TensorDesc input,
                       TensorDesc weights, std::optional<TensorDesc> bias,
                       TensorDesc output) {
    return MakeNode("tim.FullyConnected", std::move(attributes),
                    {input, weights, bias}, {output})
        .status();
  };
  const TensorDesc x = F32({4, 2});
  const TensorDesc w = F32({4, 3});
  EXPECT_OK(make(Axis(0), x, w, std::nullopt, kInferred));
  EXPECT_ERROR(make(Axis(2), x, w, std::nullopt, kInferred),
               "axis 2 is outside [-2, 2)");
  EXPECT_ERROR(make(Axis(1), x, w, std::nullopt, kInferred),
               "take 4 values, but axes 0 to 1");
  EXPECT_ERROR(make(Axis(0), x, F32({4}), std::nullopt, kInferred),
               "have rank 1, expected at least 2");
  EXPECT_ERROR(make(Axis(0), x, w, F32({2}), kInferred),
               "the bias [2] has 2 elements, expected 3");
  EXPECT_ERROR(
      make(Axis(0), Desc(DataType::kInt64, {4, 2}), w, std::nullopt, kInferred),
      "input 0 is int64, expected one of");
  EXPECT_ERROR(
      make(Axis(0), x, Desc(DataType::kBool8, {4, 3}), std::nullopt, kInferred),
      "input 1 is bool8, expected one of");
  EXPECT_ERROR(make(Axis(0), x, w, Desc(DataType::kInt8, {3}), kInferred),
               "the bias is int8, expected one of");
  TensorDesc bad = kInferred;
  bad.type = DataType::kInt64;
  EXPECT_ERROR(make(Axis(0), x, w, std::nullopt, bad),
               "the output is int64, expected one of");
  EXPECT_ERROR(make({}, x, w, std::nullopt, kInferred),
               "attribute 'axis' (int) is missing");
}

TEST(FullyConnected, RejectsBadQuantization) {
  const TensorDesc x = Desc(DataType::kUint8, {4, 2}, 0.5f, 3);
  TensorDesc w = Desc(DataType::kInt8, {4, 3});
  w.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                    .axis = 0,
                    .scales = {1, 2, 3, 4},
                    .zero_points = {0, 0, 0, 0}};
  TensorDesc y = Desc(DataType::kUint8, {3, 2}, 0.5f, 3);
  const auto make = [&] {
    return MakeNode("tim.FullyConnected", Axis(0), {x, w}, {y}).status();
  };
  EXPECT_ERROR(make(), "input 1 has 4 scales, expected 3");
  w.quantization.scales = {1, 2, 3};
  EXPECT_ERROR(make(), "per channel along axis 0, expected axis 1");
  w.quantization.axis = 1;
  EXPECT_OK(make());
  y.quantization = w.quantization;
  EXPECT_ERROR(make(), "the output is quantized per channel");
}

// ----------------------------------------------------------------- all types

struct Drawn {
  int64_t axis = 0;
  int64_t depth = 1;
  int64_t outputs = 1;
  int64_t rows = 1;
  SumOperands operands;
  std::vector<TensorData> inputs;
};

Drawn Draw(const SumTypes& types, std::mt19937& rng) {
  const Ints sizes = {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 40};
  const auto pick = [&] { return sizes[rng() % sizes.size()]; };
  Drawn out;
  Ints input = {pick()};
  out.axis = static_cast<int64_t>(rng() % 3);
  for (int64_t i = 0; i < out.axis; ++i) {
    input.push_back(1 + static_cast<int64_t>(rng() % 4));
  }
  for (const int64_t extent : input) out.depth *= extent;
  const int trailing = static_cast<int>(rng() % 3);
  for (int i = 0; i < trailing; ++i) {
    input.push_back(1 + static_cast<int64_t>(rng() % 5));
    out.rows *= input.back();
  }
  out.outputs = pick();
  out.operands = RandomSumOperands(
      types, {input, {out.depth, out.outputs}, 1, out.outputs, out.depth}, rng);
  out.inputs.push_back(RandomTensor(out.operands.input, rng));
  out.inputs.push_back(RandomTensor(out.operands.weights, rng));
  if (out.operands.bias) {
    out.inputs.push_back(RandomBias(out.operands, out.depth, rng));
  }
  return out;
}

Result<TestNode> NodeOf(const Drawn& drawn, bool constant_weights) {
  std::map<int, TensorData> constants;
  if (constant_weights) constants[1] = drawn.inputs[1];
  std::vector<std::optional<TensorDesc>> inputs = {drawn.operands.input,
                                                   drawn.operands.weights};
  if (drawn.operands.bias) inputs.push_back(drawn.operands.bias);
  return MakeNode("tim.FullyConnected", Axis(drawn.axis), inputs,
                  {drawn.operands.output}, constants);
}

RealSums Reference(const Drawn& drawn) {
  const std::vector<double> x = RealValues(drawn.inputs[0]);
  const std::vector<double> w = RealValues(drawn.inputs[1]);
  const std::vector<double> bias = BiasReals(drawn.operands, drawn.inputs);
  RealSums out;
  for (int64_t m = 0; m < drawn.rows; ++m) {
    for (int64_t o = 0; o < drawn.outputs; ++o) {
      double sum = bias.empty() ? 0 : bias[o];
      double magnitude = std::abs(sum);
      for (int64_t k = 0; k < drawn.depth; ++k) {
        const double product = x[m * drawn.depth + k] * w[o * drawn.depth + k];
        sum += product;
        magnitude += std::abs(product);
      }
      out.Add(sum, magnitude);
    }
  }
  return out;
}

class FullyConnectedEval : public ::testing::TestWithParam<SumTypes> {};

TEST_P(FullyConnectedEval, FollowsFormula) {
  std::mt19937 rng = SeededRng(21);
  for (int i = 0; i < 30; ++i) {
    const Drawn drawn = Draw(GetParam(), rng);
    const auto node = NodeOf(drawn, false);
    ASSERT_OK(node);
    const auto result = Eval(*node, drawn.inputs);
    ASSERT_OK(result);
    EXPECT_OK(CheckRealSums(drawn.operands, Reference(drawn), (*result)[0]));
  }
}

class FullyConnectedKernels : public ::testing::TestWithParam<SumTypes> {};

TEST_P(FullyConnectedKernels, EqualEval) {
  std::mt19937 rng = SeededRng(22);
  const int cases = RunsLongTests() ? 25 : 5;
  for (int i = 0; i < cases; ++i) {
    const Drawn drawn = Draw(GetParam(), rng);
    SCOPED_TRACE(drawn.operands.input.ToString() + " " +
                 drawn.operands.weights.ToString());
    const auto node = NodeOf(drawn, i % 2 == 0);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, rng, {1e-4, 1e-5}));
  }
}

std::vector<SumTypes> AllTypes() {
  std::vector<SumTypes> out = KernelSumTypes();
  for (SumTypes& types : EvalSumTypes()) out.push_back(std::move(types));
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, FullyConnectedEval,
                         ::testing::ValuesIn(AllTypes()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(All, FullyConnectedKernels,
                         ::testing::ValuesIn(KernelSumTypes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tim::testing
