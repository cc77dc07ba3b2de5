// Operators that texts describe: schemas, and kernels against eval.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "expr/operator.h"
#include "ops/builtin.h"
#include "tests/expr/texts.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

// The operator "demo.F" in a registry of its own.
class Operator {
 public:
  explicit Operator(const std::string& text)
      : registry_(&ops::BuiltinOperators()) {
    const auto program = expr::ReadProgram(text);
    EXPECT_OK(program);
    registry_.Add(expr::SchemaOf({"demo", "F"}, *program));
    registry_.Add(expr::KernelOf({"demo", "F"}, *program));
    EXPECT_OK(registry_.Check());
  }

  /// Shapes in the order of texts; results of unknown type.
  Result<TestNode> Node(const std::vector<Dims>& inputs,
                        ir::AttributeMap attributes = {},
                        std::vector<DataType> types = {},
                        size_t results = 1) const {
    std::vector<std::optional<ir::TensorDesc>> descs;
    types.resize(inputs.size(),
                 types.empty() ? DataType::kFloat32 : types.back());
    for (size_t i = 0; i < inputs.size(); ++i) {
      descs.push_back(Desc(types[i], {inputs[i].rbegin(), inputs[i].rend()}));
    }
    ir::TensorDesc any;
    return MakeNode("demo.F", std::move(attributes), descs,
                    std::vector<ir::TensorDesc>(results, any), {}, registry_);
  }

 private:
  ir::OpRegistry registry_;
};

// Every kernel computes the same bits as eval.
void ExpectSame(const std::string& text, const std::vector<Dims>& inputs,
                ir::AttributeMap attributes = {},
                const std::vector<DataType>& types = {}, size_t results = 1) {
  SCOPED_TRACE(text);
  const Operator op(text);
  const auto node = op.Node(inputs, std::move(attributes), types, results);
  ASSERT_OK(node);
  std::mt19937 rng(7);
  EXPECT_OK(CheckKernels(*node, rng));
}

int LaunchCount(const std::string& text, const std::vector<Dims>& inputs) {
  const Operator op(text);
  const auto node = op.Node(inputs);
  EXPECT_OK(node);
  const auto launches = LaunchesOf(*node, "expression demo.F@1", TestDevice());
  EXPECT_OK(launches);
  return launches.ok() ? static_cast<int>(launches->size()) : -1;
}

TEST(ExpressionKernel, ExamplesComputeWhatEvalDoes) {
  ExpectSame(kMatmulText, {{5, 7}, {7, 33}});
  ExpectSame(kBiasReluText, {{2, 3, 4, 5}, {3}});
  ExpectSame(kConv2dText, {{2, 3, 7, 6}, {4, 3, 3, 2}, {4}},
             {{"sy", int64_t{2}},
              {"px", int64_t{2}},
              {"py", int64_t{1}},
              {"dx", int64_t{2}}});
  ExpectSame(kMaxPoolText, {{1, 2, 7, 9}},
             {{"k", int64_t{3}}, {"p", int64_t{1}}});
  ExpectSame(kSoftmaxText, {{3, 35}});
  ExpectSame(kDeconvText, {{2, 3, 5}, {3, 2, 4}});
}

TEST(ExpressionKernel, HalvesAndBrainFloatsAreComputedInFloat) {
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    ExpectSame(kSoftmaxText, {{3, 9}}, {}, {type});
    ExpectSame("T = A * A; O = T + B", {{4, 3}, {3}}, {}, {type});
  }
}

TEST(ExpressionKernel, FunctionsAndOperators) {
  ExpectSame(
      "O = exp(A) + log(abs(A)) * sqrt(abs(A)) - rsqrt(abs(A)) / tanh(A) + "
      "sigmoid(A) * erf(A)",
      {{3, 11}});
  ExpectSame(
      "O = floor(A) + ceil(A) * 3 + round(A) + min(A, B) * max(A, 0.5) + "
      "pow(abs(A), B) + select(A < B && !(A == 0) || B >= 2, -A, s32(B))",
      {{3, 11}, {11}});
}

TEST(ExpressionKernel, IntegersOfEveryType) {
  for (const DataType type : {DataType::kInt8, DataType::kUint8,
                              DataType::kInt32, DataType::kInt64}) {
    ExpectSame(
        "op f(X[N]: s8|u8|s32|s64, Y[N]: s8|u8|s32|s64) -> "
        "(O: s8, P: u8, Q: s32, R: s64, S: f16, T: boolean, U: s32) { "
        "O = X * Y; P = X - Y; Q = div(X, Y) + mod(Y, X); R = abs(X * Y * Y); "
        "S = X * 0.25; T = X < Y; U[i : N] = +(i * X[j] - Y[j] % 7); }",
        {{37}, {37}}, {}, {type}, 7);
  }
}

TEST(ExpressionKernel, BooleansAndAggregates) {
  ExpectSame(
      "op f(X[N, M], B[N, M]: boolean) -> (O, P, Q, R: boolean, S: s64) { "
      "O[i] = *(X[i, j]); P[i] = <(B[i, j] ? X[i, j] : inf); "
      "Q[i] = =(X[i, j] + i); R = !B || false; "
      "S[] = >(B[i, j] ? i * j : -1); }",
      {{5, 9}, {5, 9}}, {}, {DataType::kFloat32, DataType::kBool8}, 5);
}

TEST(ExpressionKernel, LoopsOfAllKinds) {
  ExpectSame("O[x : 3] = +(A[i + j] * B[i - j + x])", {{6}, {5}});
  ExpectSame("O[x : 9] = +(A[6 - x - 2*i]), i < 3", {{7}});
  ExpectSame("O[x, y : 4, 5] = +(A[3*x - 2*y + 1] * B[x + 1]), x + y == 4",
             {{7}, {4}});
  ExpectSame("O[] = +(A[2*i + 3*j]), j < 4", {{20}});
  ExpectSame("O[i : 4] = >(A[i] * B[k - 9]), k < 4", {{2}, {2}});
  ExpectSame("O[i : 3] = +(i > 0 ? A[i - 1] : 8.0)", {{3}});
}

TEST(ExpressionKernel, ElementwiseStatementsFuse) {
  EXPECT_EQ(LaunchCount("T = A + B; U = T * T; O = max(U, 0.0) - T",
                        {{3, 4}, {3, 4}}),
            1);
  EXPECT_EQ(LaunchCount(kBiasReluText, {{1, 2, 3, 3}, {2}}), 1);
  EXPECT_EQ(LaunchCount(kSoftmaxText, {{3, 4}}), 3);
  // Another shape begins another kernel.
  EXPECT_EQ(LaunchCount("T = A + 1; O = T * B", {{4}, {3, 4}}), 2);
  ExpectSame("T = A + B; U = T * T; O = max(U, 0.0) - T", {{3, 4}, {3, 4}});
  ExpectSame("T = A + 1; O = T * B", {{4}, {3, 4}});
}

TEST(ExpressionSchema, DescribesOperandsAndAttributes) {
  const Operator op(kConv2dText);
  const auto node = op.Node({{1, 2, 5, 5}, {3, 2, 3, 3}, {3}});
  ASSERT_OK(node);
  const ir::Node& made = node->graph.node(node->node);
  EXPECT_EQ(made.attributes.Int("sy"), 1);
  EXPECT_EQ(node->output().shape, ir::Shape({3, 3, 3, 1}));
  EXPECT_EQ(node->output().type, DataType::kFloat32);
  EXPECT_TRUE(FailsWith(op.Node({{1, 2, 5, 5}, {3, 2, 3, 3}}), "input"));
  EXPECT_TRUE(
      FailsWith(op.Node({{1, 2, 2, 5}, {3, 2, 3, 3}, {3}}), "has no elements"));
  EXPECT_TRUE(FailsWith(
      op.Node({{1, 2, 5, 5}, {3, 2, 3, 3}, {3}}, {{"sz", int64_t{1}}}), "sz"));
}

TEST(ExpressionSchema, QuantizedOperandsAreRefused) {
  const Operator op("op f(X: u8) -> (O) { O = X }");
  ir::OpRegistry registry(&ops::BuiltinOperators());
  const auto program = expr::ReadProgram("op f(X: u8) -> (O) { O = X }");
  ASSERT_OK(program);
  registry.Add(expr::SchemaOf({"demo", "Q"}, *program));
  const auto node =
      MakeNode("demo.Q", {}, {Desc(DataType::kUint8, {4}, 0.5f, 3)},
               {ir::TensorDesc()}, {}, registry);
  EXPECT_TRUE(FailsWith(node, "is quantized"));
}

TEST(ExpressionSchema, RunsCompiledOnTheDevice) {
  const Operator op(kSoftmaxText);
  const auto node = op.Node({{4, 6}});
  ASSERT_OK(node);
  std::mt19937 rng(3);
  const auto inputs = RandomInputs(*node, rng);
  const auto expected = Eval(*node, inputs);
  ASSERT_OK(expected);
  const auto actual = RunCompiled(*node, inputs);
  ASSERT_OK(actual);
  EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0]));
}

}  // namespace
}  // namespace tim::testing
