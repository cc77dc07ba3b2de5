// When Compile() calls the functions of custom operators, and with what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// x -> "first" -> "second" -> y, created in the other order; every call is
// recorded.
struct Chain {
  explicit Chain(std::vector<std::string>* log) {
    const auto between = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<TestOp>(Recorded("second", log))
        ->BindInput(between)
        .BindOutput(y);
    graph->CreateOperation<TestOp>(Recorded("first", log))
        ->BindInput(x)
        .BindOutput(between);
    Write<float>(x, {1, 2});
  }

  static OpPlan Recorded(const std::string& name,
                         std::vector<std::string>* log) {
    OpPlan plan;
    plan.shapes = [=](OpPlan::Op& op) {
      log->push_back("shapes of " + name);
      EXPECT_THAT(op.inputs_size_, ElementsAre(vx::ShapeType{2}));
      EXPECT_THAT(op.outputs_size_, ElementsAre(vx::ShapeType{}));
      op.outputs_size_[0].push_back(2);
    };
    plan.params = [=](OpPlan::Op& op, const std::vector<vx::DataType>& types,
                      std::string& options) {
      log->push_back("params of " + name);
      EXPECT_THAT(types, ElementsAre(vx::DataType::FLOAT32));
      EXPECT_THAT(options, IsEmpty());
      EXPECT_THAT(op.outputs_size_, ElementsAre(vx::ShapeType{2}));
      options = "-DLEFT_BEHIND";
    };
    plan.enqueue = [=](OpPlan::Op&, uint32_t& dim, OpPlan::Sizes& global,
                       OpPlan::Sizes& local) {
      log->push_back("enqueue of " + name);
      EXPECT_EQ(dim, 0u);
      EXPECT_THAT(global, ElementsAre(0, 0, 0));
      EXPECT_THAT(local, ElementsAre(0, 0, 0));
      dim = 1;
      global[0] = 2;
    };
    return plan;
  }

  std::shared_ptr<vx::Graph> graph = OpenClGraph();
  std::shared_ptr<vx::Tensor> x = graph->CreateTensor(Floats({2}, vx::INPUT));
  std::shared_ptr<vx::Tensor> y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
};

// Shapes flow; the rest is in the order of OpVector().
const auto kOneCompile =
    ElementsAre("shapes of first", "shapes of second", "params of second",
                "params of first", "enqueue of second", "enqueue of first");

TEST(CustomOpLifecycle, CompileCallsEachOnceShapesInTopologicalOrder) {
  std::vector<std::string> log;
  Chain chain(&log);
  EXPECT_THAT(log, IsEmpty());
  ASSERT_TRUE(chain.graph->Compile()) << vx::LastError();
  EXPECT_THAT(log, kOneCompile);
}

TEST(CustomOpLifecycle, RunAndASecondCompileCallNothing) {
  std::vector<std::string> log;
  Chain chain(&log);
  ASSERT_TRUE(chain.graph->Compile()) << vx::LastError();
  log.clear();
  ASSERT_TRUE(chain.graph->Run() && chain.graph->Run()) << vx::LastError();
  ASSERT_TRUE(chain.graph->Compile());
  EXPECT_THAT(log, IsEmpty());
  EXPECT_THAT(Read(chain.y), ElementsAre(1, 2));
}

TEST(CustomOpLifecycle, CompileOfAChangedGraphCallsAgainOnClearedVectors) {
  std::vector<std::string> log;
  Chain chain(&log);
  ASSERT_TRUE(chain.graph->Compile()) << vx::LastError();
  log.clear();
  const auto z = chain.graph->CreateTensor(Floats({2}, vx::OUTPUT));
  chain.graph->CreateOperation<vx::ops::Relu>()->BindInput(chain.x).BindOutput(
      z);
  ASSERT_TRUE(chain.graph->Run()) << vx::LastError();
  EXPECT_THAT(log, kOneCompile);
  EXPECT_THAT(Read(z), ElementsAre(1, 2));
}

TEST(CustomOpLifecycle, RunWithoutCompileCallsThem) {
  std::vector<std::string> log;
  Chain chain(&log);
  ASSERT_TRUE(chain.graph->Run()) << vx::LastError();
  EXPECT_THAT(log, kOneCompile);
}

TEST(CustomOpLifecycle, AllCallsAreMadeOnTheThreadThatCompiles) {
  std::vector<std::thread::id> threads;
  OpPlan plan;
  const auto here = [&threads] {
    threads.push_back(std::this_thread::get_id());
  };
  plan.shapes = [&](OpPlan::Op& op) {
    here();
    op.outputs_size_[0] = op.inputs_size_[0];
  };
  plan.params = [&](auto&&...) { here(); };
  plan.enqueue = [&](OpPlan::Op&, uint32_t& dim, OpPlan::Sizes& global, auto&) {
    here();
    dim = 1;
    global[0] = 4;
  };
  TestOpGraph g(plan);
  std::thread::id compiling;
  std::thread([&] {
    compiling = std::this_thread::get_id();
    EXPECT_TRUE(g.graph->Compile()) << vx::LastError();
  }).join();
  EXPECT_THAT(threads, ElementsAre(compiling, compiling, compiling));
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST(CustomOpLifecycle, FunctionsMayUseOtherGraphs) {
  OpPlan plan;
  plan.params = [](auto&&...) {
    TestOpGraph inner{OpPlan()};
    EXPECT_THAT(inner.Run({4, 3, 2, 1}), ElementsAre(4, 3, 2, 1));
  };
  TestOpGraph g(plan);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

TEST(CustomOpLifecycle, ScalarsEditedInSetupParamsCount) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y, float a) {\n"
      "  y[get_global_id(0)] = a * x[get_global_id(0)];\n"
      "}\n";
  plan.scalars = Scalars(2.0f);
  plan.params = [](OpPlan::Op& op, auto&&...) { op.param_list_[0].data.f = 3; };
  TestOpGraph g(plan);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(3, 6, 9, 12));
}

TEST(CustomOpLifecycle, BuildOptionsReachTheCompiler) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = FACTOR * x[get_global_id(0)];\n"
      "}\n";
  for (const char* factor : {"2", "5"}) {
    plan.options = std::string("-DFACTOR=") + factor;
    TestOpGraph g(plan);
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ::testing::Contains(*factor - '0'));
  }
}

TEST(CustomOpLifecycle, CloneRunsInAnotherGraph) {
  OpPlan plan;
  plan.options = "-DUNUSED";
  TestOpGraph g(plan);
  std::shared_ptr<vx::Graph> other = OpenClGraph();
  const auto x = other->CreateTensor(Floats({3}, vx::INPUT));
  const auto y = other->CreateTensor(Floats({3}, vx::OUTPUT));
  g.op->Clone(other)->BindInput(x).BindOutput(y);
  Write<float>(x, {7, 8, 9});
  ASSERT_TRUE(other->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(7, 8, 9));
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace tim::testing
