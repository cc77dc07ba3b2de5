// If and While through the public API: graphs inside of operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/ops/control.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using Values = std::vector<float>;

vx::TensorSpec Spec(vx::DataType type, const vx::ShapeType& shape,
                    vx::TensorAttribute attribute) {
  return vx::TensorSpec(type, shape, attribute);
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

/// y = (condition ? -x : |x|).
struct Choice {
  explicit Choice(const std::shared_ptr<vx::Context>& on)
      : Choice(on, Unary<vx::ops::Neg>(*on), Unary<vx::ops::Abs>(*on)) {}
  Choice(const std::shared_ptr<vx::Context>& on,
         std::shared_ptr<vx::Graph> first, std::shared_ptr<vx::Graph> second)
      : context(on), graph(on->CreateGraph()) {
    condition = graph->CreateTensor(Spec(vx::DataType::BOOL8, {1}, vx::INPUT));
    x = graph->CreateTensor(Floats({3}, vx::INPUT));
    y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
    operation = graph->CreateOperation<vx::ops::If>(std::move(first),
                                                    std::move(second));
    (*operation).BindInputs({condition, x}).BindOutput(y);
  }

  Values Run(uint8_t flag, const Values& values) const {
    Write<uint8_t>(condition, {flag});
    Write<float>(x, values);
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return Read(y);
  }

  std::shared_ptr<vx::Context> context;
  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> condition, x, y;
  std::shared_ptr<vx::ops::If> operation;
};

/// (n, x) -> n * 2 < 20 is checked outside; here (n * 2, x + 1) and x.
std::shared_ptr<vx::Graph> Doubling(vx::Context& context) {
  auto graph = context.CreateGraph();
  auto n = graph->CreateTensor(Floats({1}, vx::INPUT));
  auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
  auto next = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  auto more = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  auto slice = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  static const Values kOnes = {1, 1, 1};
  auto ones = graph->CreateTensor(Floats({3}, vx::CONSTANT), kOnes.data());
  (*graph->CreateOperation<vx::ops::Add>()).BindInputs({n, n}).BindOutput(next);
  (*graph->CreateOperation<vx::ops::Add>())
      .BindInputs({x, ones})
      .BindOutput(more);
  (*graph->CreateOperation<vx::ops::Neg>()).BindInput(x).BindOutput(slice);
  return graph;
}

std::shared_ptr<vx::Graph> BelowTwenty(vx::Context& context) {
  auto graph = context.CreateGraph();
  auto n = graph->CreateTensor(Floats({1}, vx::INPUT));
  graph->CreateTensor(Floats({3}, vx::INPUT));  // nobody reads it
  auto go = graph->CreateTensor(Spec(vx::DataType::BOOL8, {1}, vx::OUTPUT));
  static const Values kTwenty = {20};
  auto end = graph->CreateTensor(Floats({1}, vx::CONSTANT), kTwenty.data());
  (*graph->CreateOperation<vx::ops::Less>())
      .BindInputs({n, end})
      .BindOutput(go);
  return graph;
}

class ControlOps : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    ASSERT_NE(context_, nullptr) << vx::LastError();
  }
  std::shared_ptr<vx::Context> context_;
};
INSTANTIATE_TEST_SUITE_P(Devices, ControlOps,
                         ::testing::Values("host", "opencl"));

TEST_P(ControlOps, IfReadsItsConditionInEveryRun) {
  const Choice choice(context_);
  EXPECT_THAT(choice.Run(1, {1, -2, 3}), ElementsAre(-1, 2, -3));
  EXPECT_THAT(choice.Run(0, {1, -2, 3}), ElementsAre(1, 2, 3));
}

TEST_P(ControlOps, WhileCarriesStateAndCollectsSlices) {
  auto graph = context_->CreateGraph();
  auto n = graph->CreateTensor(Floats({1}, vx::INPUT));
  auto x = graph->CreateTensor(Floats({3}, vx::INPUT));
  auto last = graph->CreateTensor(Floats({1}, vx::OUTPUT));
  auto sum = graph->CreateTensor(Floats({3}, vx::OUTPUT));
  auto scan = graph->CreateTensor(Floats({3, 4}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::While>(BelowTwenty(*context_),
                                           Doubling(*context_), int64_t{4}, 1))
      .BindInputs({n, x})
      .BindOutputs({last, sum, scan});
  Write<float>(n, {8});
  Write<float>(x, {1, 2, 3});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(last), ElementsAre(32));
  EXPECT_THAT(Read(sum), ElementsAre(3, 4, 5));
  EXPECT_THAT(Read(scan),
              ElementsAre(-1, -2, -3, -2, -3, -4, 0, 0, 0, 0, 0, 0));
}

TEST_P(ControlOps, ABinaryGraphHasTheGraphsInside) {
  Choice choice(context_);
  const std::vector<char> binary = ToBinary(*choice.graph);
  ASSERT_FALSE(binary.empty());
  LoadedBinary loaded(binary, *choice.graph, context_->CreateGraph());
  Write<uint8_t>(loaded.inputs[0], {1});
  Write<float>(loaded.inputs[1], {1, -2, 3});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(loaded.outputs[0]), ElementsAre(-1, 2, -3));
}

TEST_P(ControlOps, AChangeInsideIsCompiledAgain) {
  auto first = Unary<vx::ops::Neg>(*context_);
  const Choice choice(context_, first, Unary<vx::ops::Abs>(*context_));
  EXPECT_THAT(choice.Run(1, {1, 0, -1}), ElementsAre(-1, 0, 1));
  auto& operations = first->OpVector();
  operations.clear();
  (*first->CreateOperation<vx::ops::Square>())
      .BindInput(first->InputsTensor()[0])
      .BindOutput(first->OutputsTensor()[0]);
  EXPECT_THAT(choice.Run(1, {1, 2, -3}), ElementsAre(1, 4, 9));
}

TEST(ControlOp, ACustomOperatorRunsInside) {
  const auto context = ContextOn("opencl");
  ASSERT_NE(context, nullptr);
  auto inner = context->CreateGraph();
  auto x = inner->CreateTensor(Floats({3}, vx::INPUT));
  auto y = inner->CreateTensor(Floats({3}, vx::OUTPUT));
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = 7 * x[get_global_id(0)];\n"
      "}\n";
  (*inner->CreateOperation<TestOp>(plan)).BindInput(x).BindOutput(y);
  // Its namesake has another text.
  auto other = context->CreateGraph();
  auto u = other->CreateTensor(Floats({3}, vx::INPUT));
  auto v = other->CreateTensor(Floats({3}, vx::OUTPUT));
  (*other->CreateOperation<TestOp>(OpPlan())).BindInput(u).BindOutput(v);
  const Choice choice(context, inner, other);
  EXPECT_THAT(choice.Run(1, {1, 2, 3}), ElementsAre(7, 14, 21));
  EXPECT_THAT(choice.Run(0, {1, 2, 3}), ElementsAre(1, 2, 3));
}

TEST(ControlOp, ErrorsNameTheGraph) {
  const auto context = HostContext();
  Choice none(context, nullptr, Unary<vx::ops::Abs>(*context));
  EXPECT_TRUE(CompileFailsWith(*none.graph, "graph 'then_graph': it is null"));
  Choice foreign(context, Unary<vx::ops::Neg>(*context),
                 Unary<vx::ops::Abs>(*HostContext()));
  EXPECT_TRUE(CompileFailsWith(*foreign.graph,
                               "graph 'else_graph': it is of another context"));
  Choice other(context, Unary<vx::ops::Neg>(*context), BelowTwenty(*context));
  EXPECT_TRUE(
      CompileFailsWith(*other.graph, "graph 'else_graph': it has 2 inputs"));
}

TEST(ControlOp, AGraphInsideOfItselfIsRefused) {
  const auto context = HostContext();
  auto inner = context->CreateGraph();
  auto condition =
      inner->CreateTensor(Spec(vx::DataType::BOOL8, {1}, vx::INPUT));
  auto x = inner->CreateTensor(Floats({3}, vx::INPUT));
  auto y = inner->CreateTensor(Floats({3}, vx::OUTPUT));
  auto operation = inner->CreateOperation<vx::ops::If>(inner, inner);
  (*operation).BindInputs({condition, x}).BindOutput(y);
  EXPECT_TRUE(CompileFailsWith(*inner, "inside of itself"));
  inner->OpVector().clear();  // A circle of owners ends.
}

TEST(ControlOp, AVariableInsideIsRefused) {
  const auto context = HostContext();
  auto inner = context->CreateGraph();
  auto x = inner->CreateTensor(Floats({3}, vx::INPUT));
  auto y = inner->CreateTensor(Floats({3}, vx::OUTPUT));
  auto state = inner->CreateTensor(Floats({3}, vx::VARIABLE));
  (*inner->CreateOperation<vx::ops::Add>())
      .BindInputs({x, state})
      .BindOutput(y);
  Choice choice(context, inner, Unary<vx::ops::Abs>(*context));
  EXPECT_TRUE(CompileFailsWith(*choice.graph, "is a state; make it an input"));
}

}  // namespace
}  // namespace tim::testing
