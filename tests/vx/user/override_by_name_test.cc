// Override by name, of a whole context, of users' and ready-made operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "custom_ops/gemm.h"
#include "custom_ops/hswish.h"
#include "custom_ops/softmax_cl.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/composed_op.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::Graph;
using vx::Operation;

std::shared_ptr<Operation> Relu6For(Graph* graph, const Operation&) {
  return graph->CreateOperation<vx::ops::Relu6>();
}

std::shared_ptr<Operation> KeepIt(Graph*, const Operation&) { return nullptr; }

std::vector<float> RunWith(ReluGraph& g) {
  Write<float>(g.input, {-1, 5, 7});
  EXPECT_TRUE(g.graph->Run()) << vx::LastError();
  return Read(g.output);
}

TEST(OverrideByName, OfAGraph) {
  ReluGraph g({3});
  g.graph->Override("Relu", Relu6For);
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 6));
  g.graph->Override("Relu", nullptr);
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 7));
}

TEST(OverrideByName, AnUnknownNameReplacesNothing) {
  ReluGraph g({3});
  g.graph->Override("Reluu", Relu6For);
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 7));
}

TEST(OverrideByName, ANullOrEmptyNameIsRefused) {
  ReluGraph g({3});
  g.graph->Override(nullptr, Relu6For);
  EXPECT_THAT(g.graph->ErrorMessage(), HasSubstr("OpName() is null"));
  g.graph->Override("", Relu6For);
  EXPECT_THAT(g.graph->ErrorMessage(), HasSubstr("is empty"));
  const auto context = HostContext();
  context->Override(nullptr, Relu6For);
  EXPECT_THAT(vx::LastError(), HasSubstr("OpName() is null"));
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 7));
}

TEST(OverrideOfContext, ReachesAllItsGraphsAndNoOther) {
  const auto context = HostContext();
  ReluGraph before({3}, context->CreateGraph());
  EXPECT_THAT(RunWith(before), ElementsAre(0, 5, 7));
  context->Override<vx::ops::Relu>(Relu6For);
  ReluGraph after({3}, context->CreateGraph());
  ReluGraph elsewhere({3});
  EXPECT_THAT(RunWith(before), ElementsAre(0, 5, 6)) << "compiles again";
  EXPECT_THAT(RunWith(after), ElementsAre(0, 5, 6));
  EXPECT_THAT(RunWith(elsewhere), ElementsAre(0, 5, 7));
  context->Override("Relu", nullptr);
  EXPECT_THAT(RunWith(before), ElementsAre(0, 5, 7));
  EXPECT_THAT(RunWith(after), ElementsAre(0, 5, 7));
}

TEST(OverrideOfContext, OfTheGraphGoesBeforeIt) {
  const auto context = HostContext();
  context->Override<vx::ops::Relu>(Relu6For);
  ReluGraph g({3}, context->CreateGraph());
  g.graph->Override<vx::ops::Relu>([](Graph* graph, const Operation&) {
    return graph->CreateOperation<vx::ops::Relu1>();
  });
  EXPECT_THAT(RunWith(g), ElementsAre(-1, 1, 1));
  g.graph->Override<vx::ops::Relu>(KeepIt);
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 7)) << "the graph keeps its own";
  g.graph->Override<vx::ops::Relu>(nullptr);
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 6));
}

TEST(OverrideOfContext, OutlivesTheContext) {
  auto context = HostContext();
  context->Override<vx::ops::Relu>(Relu6For);
  ReluGraph g({3}, context->CreateGraph());
  context.reset();
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 6));
}

TEST(OverrideOfContext, MayChangeWhileGraphsCompile) {
  const auto context = HostContext();
  std::thread changing([&] {
    for (int i = 0; i < 100; ++i) {
      context->Override<vx::ops::Relu>(i % 2 == 0 ? Relu6For : KeepIt);
    }
    context->Override<vx::ops::Relu>(Relu6For);
  });
  for (int i = 0; i < 20; ++i) {
    ReluGraph g({3}, context->CreateGraph());
    EXPECT_GE(RunWith(g)[2], 6);
  }
  changing.join();
  ReluGraph g({3}, context->CreateGraph());
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 6));
}

TEST(OverrideThatGivesNull, KeepsTheOriginal) {
  ReluGraph g({3});
  int calls = 0;
  g.graph->Override<vx::ops::Relu>(
      [&](Graph* graph, const Operation&) -> std::shared_ptr<Operation> {
        ++calls;
        graph->CreateOperation<vx::ops::Relu6>();  // thought better of it
        return nullptr;
      });
  EXPECT_THAT(RunWith(g), ElementsAre(0, 5, 7));
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(g.graph->OpVector(), ElementsAre(g.relu));
}

// relu(relu(x)); its parts are created by the constructor, before it is in the
// graph.
class Doubled : public vx::ComposedOp {
 public:
  static const char* OpName() { return "user.Doubled"; }
  explicit Doubled(Graph* graph)
      : ComposedOp(graph, OpName(), 1, 1),
        first_(graph->CreateOperation<vx::ops::Relu>()),
        second_(graph->CreateOperation<vx::ops::Relu>()) {}
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Doubled>();
  }
  void Wire(Graph* graph,
            const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
            const std::vector<std::shared_ptr<vx::Tensor>>& outputs) override {
    const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    first_->BindInput(inputs[0]).BindOutput(a);
    second_->BindInput(a).BindOutput(outputs[0]);
  }

 private:
  std::shared_ptr<Operation> first_;
  std::shared_ptr<Operation> second_;
};

struct DoubledGraph {
  DoubledGraph() {
    graph->CreateOperation<Doubled>()->BindInput(x).BindOutput(y);
    Write<float>(x, {-1, 5, 7});
  }
  std::shared_ptr<Graph> graph = HostGraph();
  std::shared_ptr<vx::Tensor> x = graph->CreateTensor(Floats({3}, vx::INPUT));
  std::shared_ptr<vx::Tensor> y = graph->CreateTensor(Floats({3}, vx::OUTPUT));
};

TEST(OverrideThatGivesNull, ForAComposedOperationItsPartsAreAskedFor) {
  DoubledGraph g;
  int parts = 0;
  g.graph->Override<Doubled>(KeepIt);
  g.graph->Override<vx::ops::Relu>([&](Graph* graph, const Operation&) {
    ++parts;
    return graph->CreateOperation<vx::ops::Relu6>();
  });
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.y), ElementsAre(0, 5, 6));
  EXPECT_EQ(parts, 2);
}

TEST(OverrideOfAComposedOperation, DoesNotAskForItsParts) {
  DoubledGraph g;
  int whole = 0;
  g.graph->Override<Doubled>([&](Graph* graph, const Operation&) {
    ++whole;
    return graph->CreateOperation<vx::ops::Relu1>();
  });
  g.graph->Override<vx::ops::Relu>(
      [](Graph*, const Operation&) -> std::shared_ptr<Operation> {
        throw std::runtime_error("a part");
      });
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.y), ElementsAre(-1, 1, 1));
  EXPECT_EQ(whole, 1);
}

// ---- operators of users

class Scaled : public TestOp {
 public:
  static const char* OpName() { return "user.Scaled"; }
  explicit Scaled(Graph* graph, double factor)
      : TestOp(graph, Plan(), {{"factor", factor}, {"axes", Axes{2, 1}}}) {}

 private:
  using Axes = std::vector<int32_t>;
  static OpPlan Plan() {
    OpPlan plan;
    plan.name = "Scaled";
    return plan;
  }
};

TEST(OverrideOfUsersOperators, TellsTheirAttributes) {
  double factor = 0;
  std::vector<int32_t> axes;
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  graph->CreateOperation<Scaled>(2.5)->BindInput(x).BindOutput(y);
  graph->Override<Scaled>([&](Graph* g, const Operation& original) {
    int64_t other = 0;
    EXPECT_TRUE(original.GetAttribute("factor", &factor));
    EXPECT_TRUE(original.GetAttribute("axes", &axes));
    EXPECT_FALSE(original.GetAttribute("factor", &other));
    EXPECT_FALSE(original.GetAttribute("none", &other));
    return g->CreateOperation<vx::ops::Relu>();
  });
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(factor, 2.5);
  EXPECT_THAT(axes, ElementsAre(2, 1));
}

TEST(OverrideOfUsersOperators, ThoseWithAttributesRunAsTheyAre) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  auto op = graph->CreateOperation<Scaled>(2.5);
  op->BindInput(x).BindOutput(y).SetRoundingPolicy();
  Write<float>(x, {1, 2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(1, 2));
}

// On the host, which has none of their kernels.
template <typename Op>
void ExpectReplaced(const std::shared_ptr<Graph>& graph, const char* name) {
  EXPECT_STREQ(Op::OpName(), name);
  bool seen = false;
  graph->Override<Op>([&](Graph* g, const Operation& original) {
    EXPECT_STREQ(original.Name(), name);
    seen = true;
    return g->CreateOperation<TestOp>([] {
      OpPlan plan;
      plan.host = [](OpPlan::Op&, const OpPlan::Inputs&,
                     const OpPlan::Outputs& outputs) {
        outputs[0].Data<float>()[0] = 42;
      };
      return plan;
    }());
  });
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_TRUE(seen);
  EXPECT_EQ(Read(graph->OutputsTensor()[0])[0], 42);
}

TEST(OverrideOfReadyMadeOperators, HSwishAndSoftmaxCl) {
  for (const bool softmax : {false, true}) {
    const auto graph = HostGraph();
    const auto x = graph->CreateTensor(Floats({1}, vx::INPUT));
    const auto y = graph->CreateTensor(Floats({1}, vx::OUTPUT));
    std::shared_ptr<Operation> op;
    float value = 0;
    if (softmax) {
      op = graph->CreateOperation<custom_ops::SoftmaxCl>(0.5f);
      EXPECT_TRUE(op->GetAttribute("beta", &value));
    } else {
      op = graph->CreateOperation<custom_ops::HSwish>(0.5f);
      EXPECT_TRUE(op->GetAttribute("inputScale", &value));
    }
    EXPECT_EQ(value, 0.5f);
    op->BindInput(x).BindOutput(y);
    if (softmax) {
      ExpectReplaced<custom_ops::SoftmaxCl>(graph, "user.SoftmaxCl");
    } else {
      ExpectReplaced<custom_ops::HSwish>(graph, "user.HSwish");
    }
  }
}

TEST(OverrideOfReadyMadeOperators, GemmByABuiltInOperator) {
  const auto graph = HostGraph();
  const auto a = graph->CreateTensor(Floats({2, 1}, vx::INPUT));
  const auto b = graph->CreateTensor(Floats({1, 2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({1, 1}, vx::OUTPUT));
  graph->CreateOperation<custom_ops::Gemm>()->BindInputs({a, b}).BindOutput(y);
  graph->Override<custom_ops::Gemm>([](Graph* g, const Operation& original) {
    bool trans_a = true;
    bool trans_b = true;
    EXPECT_TRUE(original.GetAttribute("transA", &trans_a));
    EXPECT_TRUE(original.GetAttribute("transB", &trans_b));
    return g->CreateOperation<vx::ops::Matmul>(trans_a, trans_b);
  });
  Write<float>(a, {2, 3});
  Write<float>(b, {10, 100});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(320));
}

}  // namespace
}  // namespace tim::testing
