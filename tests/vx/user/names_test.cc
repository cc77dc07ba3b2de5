// Names that users give to tensors and operations, in messages and dumps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/plan.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::TensorSpec;

TensorSpec Named(TensorSpec spec, const std::string& name) {
  return spec.SetName(name);
}

// in -> Relu "first" -> between -> TestOp "second" -> out
struct NamedGraph {
  explicit NamedGraph(const OpPlan& plan = OpPlan(),
                      std::shared_ptr<vx::Graph> on = OpenClGraph())
      : graph(std::move(on)) {
    x = graph->CreateTensor(Named(Floats({4}, vx::INPUT), "pixels"));
    y = graph->CreateTensor(Named(Floats({4}, vx::OUTPUT), "logits"));
    const auto a =
        graph->CreateTensor(Named(Floats({}, vx::TRANSIENT), "hidden"));
    graph->CreateOperation<vx::ops::Relu>()
        ->SetInstanceName("first")
        .BindInput(x)
        .BindOutput(a);
    op = graph->CreateOperation<TestOp>(plan);
    op->SetInstanceName("second").BindInput(a).BindOutput(y);
  }
  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> x;
  std::shared_ptr<vx::Tensor> y;
  std::shared_ptr<TestOp> op;
};

TEST(Names, ChangeNothingElse) {
  NamedGraph g;
  EXPECT_EQ(g.op->InstanceName(), "second");
  EXPECT_STREQ(g.op->Name(), "user.TestOp");
  EXPECT_EQ(g.x->GetSpec().GetName(), "pixels");
  EXPECT_EQ(g.x->GetSpec(), Floats({4}, vx::INPUT)) << "no part of equality";
  EXPECT_EQ(g.x->GetSpec().AsTransientSpec().GetName(), "");
  Write<float>(g.x, {1, -2, 3, -4});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.y), ElementsAre(1, 0, 3, 0));
}

TEST(Names, OneNameForAllIsNoMistake) {
  const auto graph = HostGraph();
  const TensorSpec same = Named(Floats({2}, vx::INPUT), "same");
  TensorSpec output = same;
  output.SetAttribute(vx::OUTPUT);
  TensorSpec state = same;
  state.SetAttribute(vx::VARIABLE);
  const auto a = graph->CreateTensor(same);
  const auto b = graph->CreateTensor(same);
  const auto s = graph->CreateTensor(state);
  const auto y = graph->CreateTensor(output);
  const auto z = graph->CreateTensor(output);
  for (const auto& [left, result] : {std::pair(a, y), std::pair(s, z)}) {
    graph->CreateOperation<vx::ops::Add>()
        ->SetInstanceName("same")
        .BindInputs({left, b})
        .BindOutput(result);
  }
  Write<float>(a, {1, 2});
  Write<float>(b, {10, 20});
  Write<float>(s, {100, 200});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(11, 22));
  EXPECT_THAT(Read(z), ElementsAre(110, 220));
}

TEST(Names, MayChangeBetweenRuns) {
  NamedGraph g;
  Write<float>(g.x, {1, 2, 3, 4});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  g.x->GetSpec().SetName("renamed");
  g.op->SetInstanceName("");
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.y), ElementsAre(1, 2, 3, 4));
}

TEST(Names, AreInMessagesOfCompile) {
  OpPlan plan;
  plan.shapes = [](OpPlan::Op&) { throw std::runtime_error("no such shape"); };
  NamedGraph g(plan);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "user.TestOp#2 'second'"));
  EXPECT_THAT(vx::LastError(), HasSubstr("t2 'hidden'"));
  EXPECT_THAT(vx::LastError(), HasSubstr("t1 'logits'"));
  NamedGraph good;
  Write<float>(good.x, {1, 2, 3, 4});
  EXPECT_TRUE(good.graph->Run()) << vx::LastError();
}

TEST(Names, AreInMessagesOfTheKernelCompiler) {
  OpPlan plan;
  plan.source = "__kernel void f(__global float* x) { no_such_name; }\n";
  EXPECT_TRUE(
      CompileFailsWith(*NamedGraph(plan).graph, "user.TestOp#2 'second'"));
}

TEST(Names, AreInMessagesOfRun) {
  OpPlan plan;
  plan.host = [](auto&&...) { throw std::runtime_error("no such number"); };
  NamedGraph g(plan, HostGraph());
  EXPECT_FALSE(g.graph->Run());
  EXPECT_THAT(vx::LastError(), HasSubstr("user.TestOp#2 'second'"));
}

TEST(Names, AreInMessagesOfTensors) {
  const auto graph = HostGraph();
  const auto a =
      graph->CreateTensor(Named(Floats({}, vx::TRANSIENT), "hidden"));
  float value = 0;
  EXPECT_FALSE(a->CopyDataFromTensor(&value));
  EXPECT_THAT(vx::LastError(), HasSubstr("t0 'hidden'"));
}

TEST(Names, AreInDumps) {
  NamedGraph g;
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  const std::string plan = ir::Dump(*vx::CompiledPlan(*g.graph));
  EXPECT_THAT(plan, HasSubstr("user.TestOp#2 'second'"));
  EXPECT_THAT(plan, HasSubstr("t0 'pixels'"));
  ::testing::internal::CaptureStderr();
  g.graph->PrintGraph();
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, HasSubstr("Relu#1 'first'"));
  EXPECT_THAT(printed, HasSubstr("t2 'hidden'"));
}

TEST(Names, OfAnOriginalStandBehindItsReplacement) {
  NamedGraph g;
  g.graph->Override<vx::ops::Relu>(
      [](vx::Graph* graph, const vx::Operation& original) {
        EXPECT_EQ(original.InstanceName(), "first");
        auto made = graph->CreateOperation<vx::ops::Relu6>();
        made->SetInstanceName("mine");
        return made;
      });
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  ::testing::internal::CaptureStderr();
  g.graph->PrintGraph();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("'mine' in place of Relu#1 'first'"));
}

TEST(Names, StayInOneLineAndInTheirQuotes) {
  NamedGraph g;
  g.op->SetInstanceName("a'b\n#define c \"d\\ 100% %s");
  g.x->GetSpec().SetName(std::string("n\0ul", 4));
  Write<float>(g.x, {1, 2, 3, 4});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(g.y), ElementsAre(1, 2, 3, 4));
  ::testing::internal::CaptureStderr();
  g.graph->PrintGraph();
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, HasSubstr("'a_b_#define c \"d\\ 100% %s'"));
  EXPECT_THAT(printed, HasSubstr("t0 'n_ul'"));
}

}  // namespace
}  // namespace tim::testing
