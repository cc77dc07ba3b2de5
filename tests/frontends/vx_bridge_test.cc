// Graphs of tim::vx as graphs of values, and back.
#include "tim/values/vx_bridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/status_macros.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/values/values.h"
#include "tim/vx/ops/control.h"
#include "values/access.h"
#include "values/graph_state.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using values::FromVxGraph;
using values::Shape;
using values::Spec;
using values::ToVxGraph;
using values::Type;
using values::Value;
using Values = std::vector<Value>;
using Data = std::vector<float>;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

Data Numbers(size_t count, float first = -3) {
  Data data(count);
  std::iota(data.begin(), data.end(), first);
  for (float& x : data) x *= 0.25f;
  return data;
}

Value Tensor(const Shape& shape, const Data& data) {
  return Value::Of<float>(shape, data);
}

// ---- from tim::vx ----------------------------------------------------------

// y = relu(conv(image)), and the sum of both.
struct Convolution {
  Convolution() : graph(HostGraph()) {
    auto image_spec = Floats({5, 4, 2, 1}, vx::INPUT);
    image = graph->CreateTensor(image_spec.SetName("image"));
    const Data w = Numbers(3 * 3 * 2 * 2);
    weights = graph->CreateTensor(Floats({3, 3, 2, 2}, vx::CONSTANT), w.data());
    auto conv = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    relu = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    y = graph->CreateTensor(Floats({5, 4, 2, 1}, vx::OUTPUT));
    (*graph->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME,
                                              std::array<uint32_t, 2>({1, 1}),
                                              std::array<uint32_t, 2>({1, 1})))
        .BindInputs({image, weights})
        .BindOutput(conv)
        .SetInstanceName("stem");
    (*graph->CreateOperation<vx::ops::Relu>()).BindInput(conv).BindOutput(relu);
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({relu, image})
        .BindOutput(y);
  }
  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> image, weights, relu, y;
};

// The only output of a run of each.
template <typename T = float>
std::vector<T> RunVx(vx::Graph& graph, const std::vector<std::vector<T>>& in) {
  for (size_t i = 0; i < in.size(); ++i)
    Write<T>(graph.InputsTensor()[i], in[i]);
  EXPECT_TRUE(graph.Run()) << graph.ErrorMessage();
  return Read<T>(graph.OutputsTensor()[0]);
}
Data RunValues(const values::Graph& graph, const Values& in) {
  EXPECT_TRUE(graph.ok()) << graph.error();
  const auto program = graph.Compile();
  EXPECT_TRUE(program.ok()) << program.error();
  const Values out = program.Run(in);
  if (out.empty()) {
    ADD_FAILURE() << values::LastError();
    return {};
  }
  return out[0].ToVector<float>();
}

TEST(FromVx, ComputesTheSameAndKeepsNames) {
  Convolution vx;
  const values::Graph graph = FromVxGraph(vx.graph);
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_EQ(graph.Level(), 2);
  ASSERT_EQ(graph.InputSpecs().size(), 1u);
  EXPECT_EQ(graph.InputSpecs()[0].shape, Shape({5, 4, 2, 1}));
  EXPECT_EQ(graph.OutputSpecs()[0].shape, Shape({5, 4, 2, 1}));
  EXPECT_THAT(graph.Dump(), HasSubstr("image"));
  EXPECT_THAT(graph.Dump(), HasSubstr("stem"));
  const Data x = Numbers(40, -20);
  const Data expected = RunVx<float>(*vx.graph, {x});
  EXPECT_THAT(RunValues(graph, {Tensor({5, 4, 2, 1}, x)}),
              ElementsAreArray(expected));
  // A call, node by node.
  const Value y = graph.Call({Tensor({5, 4, 2, 1}, x)});
  EXPECT_THAT(y.ToVector<float>(), ElementsAreArray(expected));
}

// The graph of tim::vx may go: constants are shared, not copied.
TEST(FromVx, SharesConstantsAndStandsByItself) {
  values::Graph graph;
  const Data x = Numbers(40);
  Data expected;
  {
    Convolution vx;
    graph = FromVxGraph(vx.graph);
    const auto held =
        static_cast<vx::TensorImpl&>(*vx.weights).constant()->Data();
    ASSERT_OK(held);
    const ir::Graph known = values::internal::Access::StateOf(graph)->Known();
    EXPECT_TRUE(std::ranges::any_of(known.ValueIds(), [&](ir::ValueId id) {
      return known.value(id).constant == *held;
    }));
    expected = RunVx<float>(*vx.graph, {x});
  }
  EXPECT_THAT(RunValues(graph, {Tensor({5, 4, 2, 1}, x)}),
              ElementsAreArray(expected));
}

TEST(FromVx, KeepsQuantization) {
  const auto quantized = [](float scale, int zero, vx::TensorAttribute role) {
    return vx::TensorSpec(
        vx::DataType::UINT8, {4}, role,
        vx::Quantization(vx::QuantType::ASYMMETRIC, scale, zero));
  };
  auto graph = HostGraph();
  auto a = graph->CreateTensor(quantized(0.5f, 3, vx::INPUT));
  auto b = graph->CreateTensor(quantized(0.25f, 128, vx::INPUT));
  auto y = graph->CreateTensor(quantized(0.75f, 7, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Add>()).BindInputs({a, b}).BindOutput(y);
  const values::Graph converted = FromVxGraph(graph);
  ASSERT_TRUE(converted.ok()) << converted.error();
  const Spec output = converted.OutputSpecs()[0];
  EXPECT_EQ(output.type, Type::kUint8);
  EXPECT_THAT(output.quantization.scales, ElementsAre(0.75f));
  EXPECT_THAT(output.quantization.zero_points, ElementsAre(7));
  using Codes = std::vector<uint8_t>;
  const Codes first = {0, 10, 100, 200};
  const Codes second = {5, 128, 130, 255};
  const Codes expected = RunVx<uint8_t>(*graph, {first, second});
  const auto specs = converted.InputSpecs();
  const Value sum = converted.Call({Value::FromHost(specs[0], first.data()),
                                    Value::FromHost(specs[1], second.data())});
  EXPECT_THAT(sum.ToVector<uint8_t>(), ElementsAreArray(expected));
}

TEST(FromVx, KeepsDeclaredShapesScalarsAndPorts) {
  auto graph = HostGraph();
  auto unread = graph->CreateTensor(Floats({7}, vx::INPUT));
  auto x = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
  const float two = 2;
  auto scalar = graph->CreateTensor(Floats({1}, vx::CONSTANT), &two);
  scalar->SetScalar(1);
  auto wide = graph->CreateTensor(Floats({3, 2}, vx::TRANSIENT));
  auto y = graph->CreateTensor(Floats({6}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Multiply>())
      .BindInputs({x, scalar})
      .BindOutput(wide);
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(wide).BindOutput(y);
  const values::Graph converted = FromVxGraph(graph);
  ASSERT_TRUE(converted.ok()) << converted.error();
  ASSERT_EQ(converted.InputSpecs().size(), 2u);
  EXPECT_EQ(converted.InputSpecs()[0].shape, Shape({7}));
  EXPECT_EQ(converted.OutputSpecs()[0].shape, Shape({6}));
  EXPECT_THAT(RunValues(converted, {Tensor({7}, Numbers(7)),
                                    Tensor({2, 3}, {-1, 2, -3, 4, 5, 6})}),
              ElementsAre(0, 4, 0, 8, 10, 12));
}

TEST(FromVx, TakesGraphsWithoutOperations) {
  auto graph = HostGraph();
  graph->CreateTensor(Floats({3}, vx::INPUT));
  graph->CreateTensor(Floats({3}, vx::OUTPUT));
  EXPECT_THAT(RunValues(FromVxGraph(graph), {Tensor({3}, {1, 2, 3})}),
              ElementsAre(1, 2, 3));
}

// relu(a + b)
class ReluOfSum : public vx::ComposedOp {
 public:
  explicit ReluOfSum(vx::Graph* graph)
      : ComposedOp(graph, "user.ReluOfSum", 2, 1) {}
  void Wire(vx::Graph* graph,
            const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
            const std::vector<std::shared_ptr<vx::Tensor>>& outputs) override {
    auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs(inputs)
        .BindOutput(sum);
    (*graph->CreateOperation<vx::ops::Relu>())
        .BindInput(sum)
        .BindOutputs(outputs);
  }
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<ReluOfSum>();
  }
};

TEST(FromVx, KeepsComposedOperationsAsOneNode) {
  auto graph = HostGraph();
  auto a = graph->CreateTensor(Floats({3}, vx::INPUT));
  auto b = graph->CreateTensor(Floats({3}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  (*graph->CreateOperation<ReluOfSum>()).BindInputs({a, b}).BindOutput(y);
  const values::Graph converted = FromVxGraph(graph);
  ASSERT_TRUE(converted.ok()) << converted.error();
  EXPECT_THAT(converted.Dump(), HasSubstr("user.ReluOfSum"));
  EXPECT_THAT(
      RunValues(converted, {Tensor({3}, {1, -2, 3}), Tensor({3}, {1, 1, -4})}),
      ElementsAre(2, 0, 0));
}

/// y = op(x) of three floats.
template <typename Op>
std::shared_ptr<vx::Graph> Unary(vx::Context& context) {
  auto graph = context.CreateGraph();
  auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  (*graph->CreateOperation<Op>()).BindInput(x).BindOutput(y);
  return graph;
}

TEST(FromVx, KeepsGraphsInsideOfOperations) {
  const auto context = HostContext();
  auto graph = context->CreateGraph();
  auto condition =
      graph->CreateTensor(vx::TensorSpec(vx::DataType::BOOL8, {1}, vx::INPUT));
  auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::If>(Unary<vx::ops::Neg>(*context),
                                        Unary<vx::ops::Abs>(*context)))
      .BindInputs({condition, x})
      .BindOutput(y);
  const values::Graph converted = FromVxGraph(graph);
  const Value data = Tensor({3}, {1, -2, 3});
  EXPECT_THAT(RunValues(converted, {Value::Of<bool>({1}, {true}), data}),
              ElementsAre(-1, 2, -3));
  EXPECT_THAT(RunValues(converted, {Value::Of<bool>({1}, {false}), data}),
              ElementsAre(1, 2, 3));
}

void ExpectRefused(const std::shared_ptr<vx::Graph>& graph,
                   const std::string& text) {
  const values::Graph converted = FromVxGraph(graph);
  EXPECT_FALSE(converted.ok());
  EXPECT_THAT(converted.error(), HasSubstr(text));
  EXPECT_EQ(values::LastError(), converted.error());
}

TEST(FromVx, RefusesWhatValuesDoNotHave) {
  ExpectRefused(nullptr, "the graph is null");
  {
    auto graph = HostGraph();
    auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
    auto state_spec = Floats({3}, vx::VARIABLE);
    auto state = graph->CreateTensor(state_spec.SetName("sum"));
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({x, state})
        .BindOutput(state);
    ExpectRefused(graph, "'sum' is a VARIABLE");
  }
  {
    auto graph = HostGraph();
    auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
    auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
    (*graph->CreateOperation<TestOp>(OpPlan())).BindInput(x).BindOutput(y);
    ExpectRefused(graph, "is the graph's own, a custom operator");
  }
  {
    ReluGraph relu;
    relu.graph->CreateTensor(Floats({3}, vx::OUTPUT));
    ExpectRefused(relu.graph, "no operation writes the OUTPUT tensor");
  }
  {
    auto graph = HostGraph();
    auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
    auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
    (*graph->CreateOperation<vx::ops::Relu>()).BindInput(x).BindOutput(y);
    ExpectRefused(graph, "Relu#1");
  }
}

// ---- to tim::vx ------------------------------------------------------------

Values Network(const Values& in) {
  const Value w =
      Value::Constant(Spec(Type::kFloat32, {2, 3}), Numbers(6).data())
          .Named("w");
  return {Softmax(Relu(Matmul(in[0], w) * 2.0f), 1.0f, 0)};
}

TEST(ToVx, ComputesTheSameAndKeepsNames) {
  values::Graph graph;
  const Value x = graph.Input(Spec(Type::kFloat32, {3, 4}), "x");
  graph.Output(Network({x})[0]);
  ASSERT_TRUE(graph.ok()) << graph.error();
  const auto vx = ToVxGraph(graph, HostContext());
  ASSERT_NE(vx, nullptr) << values::LastError();
  ASSERT_EQ(vx->InputsTensor().size(), 1u);
  EXPECT_EQ(vx->InputsTensor()[0]->GetSpec().GetName(), "x");
  EXPECT_EQ(vx->InputsTensor()[0]->GetShape(), (vx::ShapeType{3, 4}));
  EXPECT_EQ(vx->OutputsTensor()[0]->GetShape(), (vx::ShapeType{2, 4}));
  EXPECT_STREQ(vx->OpVector()[0]->Name(), "Matmul");
  EXPECT_EQ(vx->OpVector()[0]->InstanceName(), "Matmul#0");
  const Data data = Numbers(12);
  EXPECT_THAT(RunVx<float>(*vx, {data}),
              ElementsAreArray(RunValues(graph, {Tensor({3, 4}, data)})));
  // The way back.
  EXPECT_THAT(RunValues(FromVxGraph(vx), {Tensor({3, 4}, data)}),
              ElementsAreArray(RunValues(graph, {Tensor({3, 4}, data)})));
}

TEST(ToVx, BindsValuesOfOutsideAndTakesCallsApart) {
  const values::Graph block = values::Graph::Capture(
      [](const Values& in) -> Values { return {Relu(in[0]) + in[1]}; },
      {Spec(), Spec()}, "block");
  const Value outer = Tensor({2}, {10, 20}) + 1.0f;
  const values::Graph graph = values::Graph::Capture(
      [&](const Values& in) -> Values {
        const Value once = block.Call({in[0], outer});
        return {block.Call({once * -1.0f, in[0]})};
      },
      {Spec(Type::kFloat32, {2})});
  ASSERT_TRUE(graph.ok()) << graph.error();
  const auto vx = ToVxGraph(graph, HostContext());
  ASSERT_NE(vx, nullptr) << values::LastError();
  EXPECT_EQ(vx->InputsTensor().size(), 1u);
  EXPECT_THAT(RunVx<float>(*vx, {{-50, 1}}), ElementsAre(-50, 1));
  EXPECT_THAT(RunVx<float>(*vx, {{3, -4}}),
              ElementsAreArray(RunValues(graph, {Tensor({2}, {3, -4})})));
}

TEST(ToVx, OutputsMayBeInputsConstantsAndTwice) {
  const values::Graph graph = values::Graph::Capture(
      [](const Values& in) -> Values {
        const Value y = Relu(in[0]);
        const float number[] = {7};
        return {in[0], y, y,
                Value::Constant(Spec(Type::kFloat32, Shape::Scalar()), number)};
      },
      {Spec(Type::kFloat32, {2})});
  const auto vx = ToVxGraph(graph, HostContext());
  ASSERT_NE(vx, nullptr) << values::LastError();
  EXPECT_THAT(RunVx<float>(*vx, {{-1, 2}}), ElementsAre(-1, 2));
  ASSERT_EQ(vx->OutputsTensor().size(), 4u);
  EXPECT_THAT(Read(vx->OutputsTensor()[1]), ElementsAre(0, 2));
  EXPECT_THAT(Read(vx->OutputsTensor()[2]), ElementsAre(0, 2));
  EXPECT_THAT(Read(vx->OutputsTensor()[3]), ElementsAre(7));
  EXPECT_TRUE(vx->OutputsTensor()[3]->IsScalar());
}

TEST(ToVx, KeepsDecisionsAndLoops) {
  const values::Graph twice = values::Graph::Capture(
      [](const Values& in) -> Values { return {in[0] + in[0]}; }, {Spec()},
      "twice");
  const auto function = [&](const Values& in) -> Values {
    const Value grown = values::While(
        {in[0]},
        [](const Values& state) -> Value {
          return Less(ReduceMax(state[0], {0}, false), Value(100.0f));
        },
        [&](const Values& state) -> Values { return {twice.Call(state)}; }, 20);
    return {values::If(
        Less(ReduceMax(in[0], {0}, false), Value(0.0f)), {grown, in[1]},
        [](const Values& part) -> Values { return {part[0] - part[1]}; },
        [&](const Values& part) -> Values { return {part[0] + in[1]}; })};
  };
  const values::Graph open = values::Graph::Capture(function, {Spec(), Spec()});
  ASSERT_TRUE(open.ok()) << open.error();
  const Spec three(Type::kFloat32, {3});
  const values::Graph graph = open.Specialize({three, three});
  ASSERT_TRUE(graph.ok()) << graph.error();
  const auto vx = ToVxGraph(graph, HostContext());
  ASSERT_NE(vx, nullptr) << values::LastError();
  EXPECT_THAT(RunVx<float>(*vx, {{1, 2, 3}, {0.5f, 1, 2}}),
              ElementsAre(64.5f, 129, 194));
  const Data negative = {-1, -1, -2};
  EXPECT_THAT(RunVx<float>(*vx, {negative, {1, 1, 1}}),
              ElementsAreArray(RunValues(
                  graph, {Tensor({3}, negative), Tensor({3}, {1, 1, 1})})));
}

void ExpectNotSaid(const values::Graph& graph, const std::string& text) {
  EXPECT_EQ(ToVxGraph(graph, HostContext()), nullptr);
  EXPECT_THAT(values::LastError(), HasSubstr(text));
}

TEST(ToVx, RefusesWhatTimVxDoesNotHave) {
  const auto capture = [](const values::Function& function, const Spec& spec) {
    return values::Graph::Capture(function, {spec}, "g");
  };
  const auto relu = [](const Values& in) -> Values { return {Relu(in[0])}; };
  const Spec three(Type::kFloat32, {3});
  ExpectNotSaid(capture(relu, Spec()), "input 0 (float32 [...])");
  ExpectNotSaid(capture(relu, Spec(Type::kFloat32, {Shape::kUnknown, 3})),
                "Specialize() closes");
  ExpectNotSaid(capture(relu, Spec(Type::kFloat32, {int64_t{1} << 33})),
                "32 bits");
  ExpectNotSaid(capture(
                    [](const Values& in) -> Values {
                      return {values::Call("tim.Cast", {in[0]},
                                           {{"output_type", "float64"}})};
                    },
                    three),
                "tim::vx does not have");
  values::Variable state(Tensor({3}, {1, 2, 3}), "sum");
  ExpectNotSaid(capture(
                    [&](const Values& in) -> Values {
                      state.Assign(state.Read() + in[0]);
                      return {in[0]};
                    },
                    three),
                "variable 'sum'");
  ExpectNotSaid(capture(
                    [&](const Values& in) -> Values {
                      return {values::Holder("acme.Same", in, {three})};
                    },
                    three),
                "holder");
  ExpectNotSaid(
      capture([](const Values&) -> Values { return {Value()}; }, three),
      "no value");
  EXPECT_EQ(ToVxGraph(capture(relu, three), nullptr), nullptr);
  EXPECT_THAT(values::LastError(), HasSubstr("context is null"));
}

}  // namespace
}  // namespace tim::testing
