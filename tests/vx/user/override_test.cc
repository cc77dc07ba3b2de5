// Graph::Override: operations replaced by the user's at Compile().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/vx/vx_graph.h"
#include "tim/vx/composed_op.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vx::Graph;
using vx::Operation;
using vx::Tensor;
using Tensors = std::vector<std::shared_ptr<Tensor>>;

std::shared_ptr<Operation> Relu6For(Graph* graph, const Operation&) {
  return graph->CreateOperation<vx::ops::Relu6>();
}

TEST(Override, ReplacesInItsGraphOnlyAndUntilItIsEnded) {
  ReluGraph a({3});
  ReluGraph b({3});
  for (const ReluGraph* g : {&a, &b}) Write<float>(g->input, {-1, 5, 7});
  a.graph->Override<vx::ops::Relu>(Relu6For);
  ASSERT_TRUE(a.graph->Run() && b.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(a.output), ElementsAre(0, 5, 6));
  EXPECT_THAT(Read(b.output), ElementsAre(0, 5, 7));
  a.graph->Override<vx::ops::Relu>(nullptr);
  ASSERT_TRUE(a.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(a.output), ElementsAre(0, 5, 7));
}

TEST(Override, MayComeAfterCompile) {
  ReluGraph g({3});
  Write<float>(g.input, {-1, 5, 7});
  ASSERT_TRUE(g.graph->Compile());
  g.graph->Override<vx::ops::Relu>(Relu6For);
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.output), ElementsAre(0, 5, 6));
}

TEST(Override, LeavesTheListsOfTheGraphAsTheyWere) {
  ReluGraph g({3});
  g.graph->Override<vx::ops::Relu>(Relu6For);
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(g.graph->OpVector(), ElementsAre(g.relu));
  EXPECT_EQ(g.graph->GetProducerOp(g.output), g.relu);
  EXPECT_THAT(g.graph->GetConsumersOp(g.input), ElementsAre(g.relu));
}

TEST(Override, FactoryReadsTheOriginalsAttributes) {
  auto graph = HostGraph();
  auto x = graph->CreateTensor(Floats({2, 2}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({2, 2}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Softmax>(2.5f, 1)->BindInput(x).BindOutput(y);
  float beta = 0;
  int32_t axis = -1;
  std::string name;
  graph->Override<vx::ops::Softmax>(
      [&](Graph* g, const Operation& original) -> std::shared_ptr<Operation> {
        name = original.Name();
        EXPECT_TRUE(original.GetAttribute("beta", &beta));
        EXPECT_TRUE(original.GetAttribute("axis", &axis));
        return g->CreateOperation<vx::ops::Relu>();
      });
  EXPECT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_EQ(name, "Softmax");
  EXPECT_EQ(beta, 2.5f);
  EXPECT_EQ(axis, 1);
}

// relu(relu(x) + x), of two operators that tests override.
class Nested : public vx::ComposedOp {
 public:
  static const char* OpName() { return "user.Nested"; }
  explicit Nested(Graph* graph) : ComposedOp(graph, OpName(), 1, 1) {}
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Nested>();
  }
  void Wire(Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    auto first = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    auto sum = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Relu>()->BindInput(inputs[0]).BindOutput(
        first);
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({first, inputs[0]})
        .BindOutput(sum);
    graph->CreateOperation<vx::ops::Relu>()->BindInput(sum).BindOutput(
        outputs[0]);
  }
};

struct NestedGraph {
  NestedGraph() {
    graph->CreateOperation<Nested>()->BindInput(x).BindOutput(y);
    Write<float>(x, {-1, 2, 7});
  }
  std::vector<float> Run() {
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return Read(y);
  }
  std::shared_ptr<Graph> graph = HostGraph();
  std::shared_ptr<Tensor> x = graph->CreateTensor(Floats({3}, vx::INPUT));
  std::shared_ptr<Tensor> y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
};

TEST(Override, ReachesInsideComposedOperations) {
  NestedGraph g;
  EXPECT_THAT(g.Run(), ElementsAre(0, 4, 14));
  g.graph->Override<vx::ops::Relu>(Relu6For);
  EXPECT_THAT(g.Run(), ElementsAre(0, 4, 6));
}

TEST(Override, ReplacesAWholeComposedOperation) {
  NestedGraph g;
  g.graph->Override<Nested>(Relu6For);
  EXPECT_THAT(g.Run(), ElementsAre(0, 2, 6));
}

// Of every operation, by every Compile(), and by nothing else.
TEST(Override, CallsAFactoryOncePerOperationAndCompile) {
  NestedGraph g;
  int calls = 0;
  const Graph::Replacement counted = [&](Graph* graph,
                                         const Operation& original) {
    ++calls;
    return Relu6For(graph, original);
  };
  g.graph->Override<vx::ops::Relu>(counted);
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(g.graph->Compile());
  EXPECT_THAT(g.Run(), ElementsAre(0, 4, 6));
  size_t size = 0;
  EXPECT_TRUE(g.graph->CompileToBinary(nullptr, &size)) << vx::LastError();
  ::testing::internal::CaptureStderr();
  g.graph->PrintGraph();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("Relu6"));
  EXPECT_EQ(calls, 2);

  // The whole is asked for first; of its parts nobody asks then.
  g.graph->Override<Nested>(counted);
  EXPECT_THAT(g.Run(), ElementsAre(0, 2, 6));
  EXPECT_EQ(calls, 3);
}

TEST(Override, TakesAComposedReplacementThatUsesTheOriginal) {
  ReluGraph g({3});
  Write<float>(g.input, {-1, 2, 7});
  g.graph->Override<vx::ops::Relu>([](Graph* graph, const Operation&) {
    return graph->CreateOperation<Nested>();
  });
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.output), ElementsAre(0, 4, 14));
}

TEST(Override, TakesAReplacementThatWasMadeWithoutCreateOperation) {
  ReluGraph g({3});
  Write<float>(g.input, {-1, 2, 7});
  g.graph->Override<vx::ops::Relu>([](Graph* graph, const Operation&) {
    return std::make_shared<Nested>(graph);
  });
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.output), ElementsAre(0, 4, 14));
}

void ExpectFailure(Graph::Replacement factory, const std::string& text) {
  ReluGraph g;
  g.graph->Override<vx::ops::Relu>(std::move(factory));
  EXPECT_TRUE(CompileFailsWith(*g.graph, text));
  EXPECT_THAT(vx::LastError(),
              HasSubstr("the replacement of operation Relu#1"));
  EXPECT_FALSE(g.graph->Run());
  EXPECT_TRUE(ReluGraph().graph->Run()) << "a good graph works afterwards";
}

TEST(OverrideErrors, FactoryThatThrows) {
  ExpectFailure(
      [](Graph*, const Operation&) -> std::shared_ptr<Operation> {
        throw std::runtime_error("no spare part");
      },
      "no spare part");
}

TEST(OverrideErrors, FactoryThatGivesABoundOperation) {
  ExpectFailure(
      [](Graph* graph, const Operation&) {
        auto made = graph->CreateOperation<vx::ops::Relu6>();
        made->BindInput(graph->InputsTensor()[0]);
        return made;
      },
      "is bound");
}

TEST(OverrideErrors, FactoryThatGivesAnOperationOfAnotherGraph) {
  auto other = HostGraph();
  ExpectFailure(
      [&](Graph*, const Operation&) {
        return other->CreateOperation<vx::ops::Relu6>();
      },
      "another graph");
}

struct Nameless {
  static const char* OpName() { return nullptr; }
};

TEST(OverrideErrors, ClassWithoutAName) {
  ReluGraph g;
  g.graph->Override<Nameless>(Relu6For);
  EXPECT_THAT(vx::LastError(), HasSubstr("OpName() is null"));
  EXPECT_TRUE(g.graph->Run());
}

struct ShortName {
  static const char* OpName() { return "Nested"; }
};

TEST(Override, FindsUsersOperatorsWithoutTheirDomain) {
  NestedGraph g;
  g.graph->Override<ShortName>(Relu6For);
  EXPECT_THAT(g.Run(), ElementsAre(0, 2, 6));
}

TEST(OverrideErrors, FactoryThatCompilesTheGraph) {
  ReluGraph g;
  bool compiled = true;
  g.graph->Override<vx::ops::Relu>(
      [&](Graph* graph, const Operation&) -> std::shared_ptr<Operation> {
        compiled = graph->Compile();
        EXPECT_THAT(vx::LastError(), HasSubstr("is running"));
        EXPECT_FALSE(graph->Run());
        return graph->CreateOperation<vx::ops::Relu6>();
      });
  EXPECT_TRUE(g.graph->Compile()) << vx::LastError();
  EXPECT_FALSE(compiled);
}

}  // namespace
}  // namespace tim::testing
