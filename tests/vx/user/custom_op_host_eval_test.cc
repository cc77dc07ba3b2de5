// HostEval(): custom operators where there is no OpenCL device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/composed_op.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;
using vx::TensorSpec;

// y = x + 1 by the kernel, x + 2 by the reference: which one ran.
OpPlan PlusOneOrTwo() {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] + 1;\n"
      "}\n";
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    const int64_t count = inputs.at(0).spec.GetElementNum();
    for (int64_t i = 0; i < count; ++i) {
      outputs.at(0).Data<float>()[i] = inputs[0].Data<float>()[i] + 2;
    }
  };
  return plan;
}

TEST(CustomOpHostEval, RunsOnTheHostAndTheKernelOnOpenCl) {
  TestOpGraph host(PlusOneOrTwo(), {4}, HostGraph());
  EXPECT_THAT(host.Run({1, 2, 3, 4}), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(host.Run({0, 0, 0, 9}), ElementsAre(2, 2, 2, 11));
  EXPECT_THAT(TestOpGraph(PlusOneOrTwo()).Run({1, 2, 3, 4}),
              ElementsAre(2, 3, 4, 5));
}

TEST(CustomOpHostEval, IsNotCalledByCompileForConstants) {
  for (const char* device : {"host", "opencl"}) {
    int calls = 0;
    OpPlan plan = PlusOneOrTwo();
    const auto eval = plan.host;
    plan.host = [&](OpPlan::Op& op, const auto& in, const auto& out) {
      ++calls;
      eval(op, in, out);
    };
    const auto graph = ContextOn(device)->CreateGraph();
    const std::vector<float> values = {1, 2};
    const auto x =
        graph->CreateTensor(Floats({2}, vx::CONSTANT), values.data());
    const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(y);
    ASSERT_TRUE(graph->Compile()) << vx::LastError();
    EXPECT_EQ(calls, 0);
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    const bool on_host = std::string(device) == "host";
    EXPECT_EQ(calls, on_host ? 1 : 0);
    EXPECT_THAT(Read(y), on_host ? ElementsAre(3, 4) : ElementsAre(2, 3));
  }
}

TEST(CustomOpHostEval, SeesFinalSpecsOfInferredTensors) {
  OpPlan plan = PlusOneOrTwo();
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::INT32); };
  int calls = 0;
  plan.host = [&](OpPlan::Op& op, const OpPlan::Inputs& inputs,
                  const OpPlan::Outputs& outputs) {
    ++calls;
    ASSERT_EQ(inputs.size(), 1u);
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(inputs[0].spec, op.InputSpec(0));
    EXPECT_EQ(outputs[0].spec, op.OutputSpec(0));
    EXPECT_THAT(op.InputSpec(0).shape_, ElementsAre(2u, 3u));
    EXPECT_EQ(op.OutputSpec(0).datatype_, DataType::INT32);
    EXPECT_THAT(op.outputs_size_, ElementsAre(vx::ShapeType{2, 3}));
    for (int i = 0; i < 6; ++i) {
      outputs[0].Data<int32_t>()[i] =
          static_cast<int32_t>(inputs[0].Data<float>()[i]);
    }
  };
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
  const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto b =
      graph->CreateTensor(TensorSpec(DataType::UNKNOWN, {}, vx::TRANSIENT));
  const auto y =
      graph->CreateTensor(TensorSpec(DataType::INT32, {2, 3}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(a);
  graph->CreateOperation<TestOp>(plan)->BindInput(a).BindOutput(b);
  graph->CreateOperation<vx::ops::Relu>()->BindInput(b).BindOutput(y);
  Write<float>(x, {-1, 1, 2, -2, 3, 4});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(Read<int32_t>(y), ElementsAre(0, 1, 2, 0, 3, 4));
}

// Adds the input to row 0 of a state of two rows.
TEST(CustomOpHostEval, WhatItDoesNotWriteOfAVariableStays) {
  OpPlan plan;
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {2, 2}; };
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    for (int i = 0; i < 2; ++i) {
      outputs[0].Data<float>()[i] += inputs[0].Data<float>()[i];
    }
  };
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto state = graph->CreateTensor(Floats({2, 2}, vx::VARIABLE));
  graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(state);
  Write<float>(state, {10, 20, 30, 40});
  Write<float>(x, {1, 2});
  ASSERT_TRUE(graph->Run() && graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(state), ElementsAre(12, 24, 30, 40));
}

TEST(CustomOpHostEval, OfAReplacementOutlivesTheCompilation) {
  ReluGraph g({2});
  g.graph->Override<vx::ops::Relu>([](vx::Graph* graph, const vx::Operation&) {
    return graph->CreateOperation<TestOp>(PlusOneOrTwo());
  });
  Write<float>(g.input, {1, -1});
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(g.output), ElementsAre(3, 1));
  }
}

// Two of them, so that both run in a body.
class Twice : public vx::ComposedOp {
 public:
  explicit Twice(vx::Graph* graph) : ComposedOp(graph, "user.Twice", 1, 1) {}
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<Twice>();
  }
  void Wire(vx::Graph* graph,
            const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
            const std::vector<std::shared_ptr<vx::Tensor>>& outputs) override {
    const auto a = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<TestOp>(PlusOneOrTwo())
        ->BindInput(inputs[0])
        .BindOutput(a);
    graph->CreateOperation<TestOp>(PlusOneOrTwo())
        ->BindInput(a)
        .BindOutput(outputs[0]);
  }
};

TEST(CustomOpHostEval, RunsInsideComposedOperations) {
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  graph->CreateOperation<Twice>()->BindInput(x).BindOutput(y);
  Write<float>(x, {1, 2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(5, 6));
}

TEST(CustomOpHostEval, WithoutItTheHostRefuses) {
  TestOpGraph g(OpPlan(), {4}, HostGraph());
  EXPECT_TRUE(CompileFailsWith(*g.graph,
                               "a user's kernel runs on OpenCL devices only"));
  EXPECT_THAT(vx::LastError(), HasSubstr("user.TestOp#1"));
  EXPECT_THAT(vx::LastError(), HasSubstr("HostEval()"));
}

void ExpectRunFails(OpPlan plan, const std::string& text) {
  TestOpGraph g(plan, {4}, HostGraph());
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  for (int run = 0; run < 2; ++run) {
    EXPECT_FALSE(g.graph->Run());
    EXPECT_THAT(vx::LastError(), HasSubstr(text));
    EXPECT_THAT(g.graph->ErrorMessage(), HasSubstr("user.TestOp#1"));
  }
  TestOpGraph good(PlusOneOrTwo(), {4}, HostGraph());
  EXPECT_THAT(good.Run({1, 2, 3, 4}), ElementsAre(3, 4, 5, 6));
}

TEST(CustomOpHostEvalErrors, WhatItThrowsFailsRun) {
  OpPlan plan;
  plan.host = [](auto&&...) { throw std::runtime_error("no such number"); };
  ExpectRunFails(plan, "HostEval(): an exception was thrown: no such number");
  plan.host = [](auto&&...) { throw 7; };
  ExpectRunFails(plan, "HostEval()");
}

TEST(CustomOpHostEvalErrors, ElementsOfAnotherSize) {
  OpPlan plan;
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& inputs, auto&&) {
    inputs[0].Data<double>();
  };
  ExpectRunFails(plan, "T has 8 bytes, an element of the tensor has 4");
  plan.host = [](OpPlan::Op&, auto&&, const OpPlan::Outputs& outputs) {
    outputs[0].Data<uint8_t>();
  };
  ExpectRunFails(plan, "T has 1 bytes");
}

TEST(CustomOpHostEvalErrors, SpecsOutOfRange) {
  OpPlan plan;
  plan.host = [](OpPlan::Op& op, auto&&...) { op.InputSpec(1); };
  ExpectRunFails(plan, "HostEval(): an exception was thrown: InputSpec(1)");
}

TEST(CustomOpHostEvalErrors, AFailedRunMayBeFollowedByAGoodOne) {
  bool fail = true;
  OpPlan plan = PlusOneOrTwo();
  const auto eval = plan.host;
  plan.host = [&](OpPlan::Op& op, const auto& in, const auto& out) {
    if (fail) throw std::runtime_error("not yet");
    eval(op, in, out);
  };
  TestOpGraph g(plan, {4}, HostGraph());
  EXPECT_FALSE(g.graph->Run());
  fail = false;
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(3, 4, 5, 6));
}

// A function that must not be called there says so to each, whichever ends
// first.
TEST(CustomOpHostEval, OfRunsInFlightIsSeenInEach) {
  OpPlan plan;
  plan.host = [](OpPlan::Op& op, const OpPlan::Inputs& inputs,
                 const OpPlan::Outputs& outputs) {
    const float x = inputs.at(0).Data<float>()[0];
    std::this_thread::sleep_for(
        std::chrono::milliseconds(static_cast<int>(2 * x)));
    float refused = 0;
    try {
      op.AddScratch(DataType::FLOAT32, {4});
    } catch (const std::exception&) {
      refused = 1;
    }
    outputs.at(0).Data<float>()[0] = refused;
  };
  const TestOpGraph g(plan, {1}, HostGraph());
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  std::vector<float> inputs = {1, 8, 15, 1, 8, 15, 1, 8};
  std::vector<float> outputs(inputs.size());
  std::vector<vx::RunEvent> runs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    runs.push_back(g.graph->RunAsync({&inputs[i]}, {&outputs[i]}));
  }
  for (vx::RunEvent& run : runs) EXPECT_TRUE(run.Wait()) << vx::LastError();
  EXPECT_THAT(outputs, ::testing::Each(1));
}

TEST(CustomOpHostEvalErrors, FunctionsOfOtherPlaces) {
  const std::function<void(OpPlan::Op&)> calls[] = {
      [](OpPlan::Op& op) { op.AddScratch(DataType::INT8, {1}); },
      [](OpPlan::Op& op) { op.AddLocal(1); },
      [](OpPlan::Op& op) { op.AddKernel("f", {1}); },
      [](OpPlan::Op& op) { op.HasInput(1); },
  };
  for (const auto& call : calls) {
    OpPlan plan;
    plan.host = [&](OpPlan::Op& op, const auto&, const auto&) { call(op); };
    TestOpGraph g(plan, {4}, HostGraph());
    ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
    EXPECT_FALSE(g.graph->Run());
    EXPECT_THAT(vx::LastError(), HasSubstr("user.TestOp#1"));
    EXPECT_THAT(vx::LastError(), HasSubstr("HostEval()"));
    EXPECT_THAT(TestOpGraph(OpPlan()).Run({1, 2, 3, 4}),
                ElementsAre(1, 2, 3, 4));
  }
}

class Boast : public TestOp {
 public:
  using TestOp::TestOp;
  bool HasHostEval() const override { return true; }

 protected:
  void HostEval(const OpPlan::Inputs& inputs,
                const OpPlan::Outputs& outputs) override {
    CustomOpBase::HostEval(inputs, outputs);
  }
};

TEST(CustomOpHostEvalErrors, ClassThatHasNone) {
  ReluGraph g({2});
  g.graph->Override<vx::ops::Relu>([](vx::Graph* graph, const vx::Operation&) {
    return graph->CreateOperation<Boast>(OpPlan());
  });
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  EXPECT_FALSE(g.graph->Run());
  EXPECT_THAT(vx::LastError(), HasSubstr("HasHostEval() says"));
}

}  // namespace
}  // namespace tim::testing
