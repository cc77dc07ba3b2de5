// Operators that texts describe: schemas, and kernels against eval.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

#include "base/options.h"
#include "compiler/compiler.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "expr/decompose.h"
#include "expr/operator.h"
#include "ops/builtin.h"
#include "runtime/compile_options.h"
#include "tests/expr/texts.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

// Whether products are left to the library's operators.
enum class Form : uint8_t { kPlain, kComposed };

// The operator "demo.F" in a registry of its own.
class Operator {
 public:
  explicit Operator(const std::string& text, Form form = Form::kPlain)
      : registry_(&ops::BuiltinOperators()) {
    const auto program = expr::ReadProgram(text);
    EXPECT_OK(program);
    if (!program.ok()) return;
    if (form == Form::kPlain) {
      registry_.Add(expr::SchemaOf({"demo", "F"}, *program));
      registry_.Add(expr::KernelOf({"demo", "F"}, *program));
    } else {
      expr::AddOperator({"demo", "F"}, *program, &registry_);
    }
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

TEST(ExpressionKernel, KernelsAreLaunchedAsOne) {
  const auto device = device::CreateOpenClDevice(0, {});
  ASSERT_OK(device);
  if (!(*device)->info().chains) GTEST_SKIP() << "the device chains nothing";
  const Operator op(kSoftmaxText);
  const auto node = op.Node({{3, 35}});
  ASSERT_OK(node);
  const auto launches = LaunchesOf(*node, "expression demo.F@1", TestDevice());
  ASSERT_OK(launches);
  ASSERT_EQ(launches->size(), 3u);
  const std::vector<ir::Action> actions(launches->begin(), launches->end());
  std::vector<device::ChainLink> links;
  for (const ir::Action& action : actions) {
    links.push_back({.action = &action, .buffers = {}});
    links.back().buffers.resize(
        std::get<ir::KernelLaunch>(action).arguments.size());
  }
  EmptyStore store;
  EXPECT_OK((*device)->PrepareChain(links, store));
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
  Sample sample(3);
  for (const DataType type : {DataType::kInt8, DataType::kUint8,
                              DataType::kInt32, DataType::kInt64}) {
    if (!sample.Takes()) continue;
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

// Operators of the host's plan: which ones a text is composed of.
std::multiset<std::string> OperatorsOf(const TestNode& node) {
  const std::vector<std::shared_ptr<device::Device>> devices = {
      device::CreateHostDevice()};
  const auto plan = compiler::Compile(node.graph, *node.registry,
                                      runtime::CompileOptionsFor(devices));
  EXPECT_OK(plan);
  std::multiset<std::string> names;
  if (!plan.ok()) return names;
  for (const ir::Step& step : plan->steps) {
    const auto* call = std::get_if<ir::HostCall>(&step.action);
    if (call != nullptr) names.insert(call->op);
  }
  return names;
}

using Names = std::multiset<std::string>;

// A composed operator computes what the definition says.
void ExpectComposed(const std::string& text, const std::vector<Dims>& inputs,
                    const Names& operators,
                    const ir::AttributeMap& attributes = {},
                    const std::vector<DataType>& types = {}) {
  SCOPED_TRACE(text);
  const Operator op(text, Form::kComposed);
  const auto node = op.Node(inputs, attributes, types);
  ASSERT_OK(node);
  EXPECT_EQ(OperatorsOf(*node), operators);
  std::mt19937 rng(5);
  const auto given = RandomInputs(*node, rng);
  const auto expected = Eval(*node, given);
  ASSERT_OK(expected);
  const auto actual = RunCompiled(*node, given);
  ASSERT_OK(actual);
  const bool half = !types.empty();
  EXPECT_OK(CompareTensors(
      (*expected)[0], (*actual)[0],
      {.absolute = half ? 2e-2 : 1e-4, .relative = half ? 2e-3 : 1e-5}));
}

TEST(ExpressionProducts, MatmulTextIsMatmul) {
  ExpectComposed(kMatmulText, {{5, 7}, {7, 33}}, {"tim.Matmul@1"});
  ExpectComposed(kMatmulText, {{5, 7}, {7, 33}}, {"tim.Matmul@1"}, {},
                 {DataType::kFloat16});
}

TEST(ExpressionProducts, AxesOfProductsStandAnywhere) {
  ExpectComposed("O[j, i] = +(A[k, i] * B[j, k])", {{7, 5}, {3, 7}},
                 {"tim.Matmul@1", "tim.Transpose@1", "tim.Transpose@1",
                  "tim.Transpose@1"});
  // Heads of attention: two batch axes.
  const Operator op("O[b, q, h, k] = +(Q[b, q, h, d] * K[b, k, h, d])",
                    Form::kComposed);
  const auto node = op.Node({{2, 3, 4, 5}, {2, 6, 4, 5}});
  ASSERT_OK(node);
  EXPECT_EQ(OperatorsOf(*node).count("tim.Matmul@1"), 1u);
  ExpectComposed(
      "O[i] = +(A[i, k] * B[k])", {{5, 7}, {7}},
      OperatorsOf(*Operator("O[i] = +(A[i, k] * B[k])", Form::kComposed)
                       .Node({{5, 7}, {7}})));
}

TEST(ExpressionProducts, ConvolutionTextIsConv2d) {
  for (const ir::AttributeMap& attributes :
       {ir::AttributeMap{},
        ir::AttributeMap{{"sy", int64_t{2}}, {"px", int64_t{2}}},
        ir::AttributeMap{
            {"sx", int64_t{3}}, {"py", int64_t{1}}, {"dy", int64_t{2}}}}) {
    ExpectComposed(kConv2dText, {{2, 3, 7, 8}, {4, 3, 3, 2}, {4}},
                   {"tim.Conv2d@1", "demo.F#1@1"}, attributes);
  }
}

// Numbers rule: outputs that the operator would not make, a sum that reads less
// than its operands have.
TEST(ExpressionProducts, OthersKeepTheirKernel) {
  ExpectComposed("O[i, j : 3, N] = +(A[i, k] * B[k, j])", {{5, 7}, {7, 4}},
                 {"demo.F#all@1"});
  ExpectComposed("O[i, j] = +(A[i, k] * B[k, j])", {{5, 7}, {6, 4}},
                 {"demo.F#all@1"});
  ExpectComposed("O[x : 3] = +(A[x + 2*i] * B[i])", {{9}, {3}},
                 {"demo.F#all@1"});
  ExpectComposed(
      "op f(I[N, C, H, W], F[O, C, K, L]) -> (R) { R[n, o, y, x : N, O, 2, 3] "
      "= +(I[n, c, y + i, x + j] * F[o, c, i, j]) }",
      {{1, 2, 6, 7}, {3, 2, 3, 3}}, {"demo.F#all@1"});
  ExpectComposed(kMatmulText, {{5, 7}, {7, 4}}, {"demo.F#all@1"}, {},
                 {DataType::kBFloat16});
}

TEST(ExpressionProducts, DimensionsPassBetweenParts) {
  ExpectComposed(
      "T[i : M] = +(A[i, k]); P[i, j : M, N] = +(A[i, k] * B[k, j]); "
      "O[i, j : M, N] = =(P[i, j] / N + T[i] * M)",
      {{5, 7}, {7, 4}}, {"tim.Matmul@1", "demo.F#0@1", "demo.F#2@1"});
}

// The plan of the text is the plan of Matmul: it takes the same time.
TEST(ExpressionProducts, MatmulTextRunsMatmulsKernels) {
  const auto created = device::CreateOpenClDevice(0, GetOptions().on_device);
  if (created.status().code() == StatusCode::kNotFound) {
    GTEST_SKIP() << "no OpenCL device";
  }
  ASSERT_OK(created);
  const std::vector<std::shared_ptr<device::Device>> devices = {
      device::CreateHostDevice(), *created};
  const auto options = runtime::CompileOptionsFor(devices);
  const auto launches = [&](const TestNode& node) {
    const auto plan = compiler::Compile(node.graph, *node.registry, options);
    EXPECT_OK(plan);
    std::vector<ir::Action> actions;
    if (!plan.ok()) return actions;
    for (const ir::Step& step : plan->steps) actions.push_back(step.action);
    return actions;
  };
  const Operator op(kMatmulText, Form::kComposed);
  const auto text = op.Node({{256, 256}, {256, 256}});
  ASSERT_OK(text);
  const auto a = Desc(DataType::kFloat32, {256, 256});
  const auto matmul = MakeNode("tim.Matmul", {}, {a, a}, {ir::TensorDesc()});
  ASSERT_OK(matmul);
  EXPECT_FALSE(launches(*text).empty());
  EXPECT_EQ(launches(*text), launches(*matmul));
}

}  // namespace
}  // namespace tim::testing
