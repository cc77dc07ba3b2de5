// Where custom operators stand in a graph, and the shapes that they decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/composed_op.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;

OpPlan Times(int factor) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = FACTOR * x[get_global_id(0)];\n"
      "}\n";
  plan.options = "-DFACTOR=" + std::to_string(factor);
  return plan;
}

TEST(CustomOpPlacement, BetweenBuiltInsWithUnknownShapeAndType) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
  const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto b = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::UNKNOWN, {}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({2, 3}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(a);
  graph->CreateOperation<TestOp>(Times(-2))->BindInput(a).BindOutput(b);
  graph->CreateOperation<vx::ops::Add>()->BindInputs({b, x}).BindOutput(y);
  Write<float>(x, {1, -2, 3, -4, 5, -6});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(-1, -2, -3, -4, -5, -6));
  EXPECT_THAT(b->GetShape(), ElementsAre(2u, 3u));
  EXPECT_EQ(b->GetDataType(), vx::DataType::FLOAT32);
}

TEST(CustomOpPlacement, AfterABlockedConvolutionItGetsDenseMemory) {
  // One by one, weights 1: the sum of the channels in each output channel.
  constexpr uint32_t kChannels = 16;
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({3, 2, kChannels, 1}, vx::INPUT));
  const std::vector<float> ones(kChannels * kChannels, 1);
  const auto w = graph->CreateTensor(
      Floats({1, 1, kChannels, kChannels}, vx::CONSTANT), ones.data());
  const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({3, 2, kChannels, 1}, vx::OUTPUT));
  using Pair = std::array<uint32_t, 2>;
  graph
      ->CreateOperation<vx::ops::Conv2d>(vx::PadType::VALID, Pair{1, 1},
                                         Pair{1, 1})
      ->BindInputs({x, w})
      .BindOutput(a);
  graph->CreateOperation<TestOp>(Times(1))->BindInput(a).BindOutput(y);
  std::vector<float> pixels;
  for (uint32_t i = 0; i < 6 * kChannels; ++i) {
    pixels.push_back(static_cast<float>(i % 6));
  }
  Write(x, pixels);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  for (float& pixel : pixels) pixel *= kChannels;
  EXPECT_EQ(Read(y), pixels);
}

TEST(CustomOpPlacement, OutputShapeOfTheOperatorRulesOverAnEqualCount) {
  OpPlan plan;
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {2, 2}; };
  TestOpGraph g(plan);  // declares y as {4}
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST(CustomOpPlacement, OutputOfAnotherCountIsRefusedWithBothShapes) {
  OpPlan plan;
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {3}; };
  TestOpGraph g(plan);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "user.TestOp#1"));
  EXPECT_THAT(vx::LastError(), HasSubstr("[3]"));
  EXPECT_THAT(vx::LastError(), HasSubstr("[4]"));
  EXPECT_FALSE(g.graph->Run());
}

TEST(CustomOpPlacement, GeneratorHasNoInput) {
  OpPlan plan;
  plan.inputs = 0;
  plan.source =
      "__kernel void f(__global float* y) {\n"
      "  y[get_global_id(0)] = get_global_id(0);\n"
      "}\n";
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {3}; };
  const auto graph = OpenClGraph();
  const auto y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(plan)->BindOutput(y);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(0, 1, 2));
}

TEST(CustomOpPlacement, OfConstantsOnlyItStillRuns) {
  const auto graph = OpenClGraph();
  const std::vector<float> values = {1, 2};
  const auto x = graph->CreateTensor(Floats({2}, vx::CONSTANT), values.data());
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(Times(4))->BindInput(x).BindOutput(y);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(4, 8));
}

TEST(CustomOpPlacement, TwoInstancesInOneGraphAreTwoPrograms) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  Tensors y;
  for (const int factor : {2, 3}) {
    y.push_back(graph->CreateTensor(Floats({2}, vx::OUTPUT)));
    graph->CreateOperation<TestOp>(Times(factor))
        ->BindInput(x)
        .BindOutput(y.back());
  }
  Write<float>(x, {1, 10});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y[0]), ElementsAre(2, 20));
  EXPECT_THAT(Read(y[1]), ElementsAre(3, 30));
}

// relu(-2 * relu(x)) + x, the product by a custom operator.
class Around : public vx::ComposedOp {
 public:
  explicit Around(vx::Graph* graph) : ComposedOp(graph, "user.Around", 1, 1) {}
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<Around>();
  }
  void Wire(vx::Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    auto b = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Relu>()->BindInput(inputs[0]).BindOutput(a);
    graph->CreateOperation<TestOp>(Times(-2))->BindInput(a).BindOutput(b);
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({b, inputs[0]})
        .BindOutput(outputs[0]);
  }
};

struct AroundGraph {
  AroundGraph() {
    graph->CreateOperation<Around>()->BindInput(x).BindOutput(y);
    Write<float>(x, {-1, 3});
  }
  std::vector<float> Run() {
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return Read(y);
  }
  std::shared_ptr<vx::Graph> graph = OpenClGraph();
  std::shared_ptr<vx::Tensor> x = graph->CreateTensor(Floats({2}, vx::INPUT));
  std::shared_ptr<vx::Tensor> y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
};

TEST(CustomOpPlacement, InsideAComposedOperator) {
  EXPECT_THAT(AroundGraph().Run(), ElementsAre(-1, -3));
}

std::shared_ptr<vx::Operation> TimesFour(vx::Graph* graph,
                                         const vx::Operation&) {
  return graph->CreateOperation<TestOp>(Times(4));
}

TEST(CustomOpOverride, ReplacesABuiltInInOneGraphOnly) {
  ReluGraph a({2}, OpenClGraph());
  ReluGraph b({2}, OpenClGraph());
  a.graph->Override<vx::ops::Relu>(TimesFour);
  for (const ReluGraph* g : {&a, &b}) {
    Write<float>(g->input, {-1, 3});
    ASSERT_TRUE(g->graph->Run()) << vx::LastError();
  }
  EXPECT_THAT(Read(a.output), ElementsAre(-4, 12));
  EXPECT_THAT(Read(b.output), ElementsAre(0, 3));
}

TEST(CustomOpOverride, ReachesInsideComposedOperators) {
  AroundGraph g;
  g.graph->Override<vx::ops::Relu>(TimesFour);
  EXPECT_THAT(g.Run(), ElementsAre(7, -21));  // x + -2 * 4 x
}

}  // namespace
}  // namespace tim::testing
