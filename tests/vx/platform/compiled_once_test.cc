// What an executor compiles: once, for its devices, without a binary graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/host/host_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<float>;
using vx::platform::IExecutable;
using vx::platform::IExecutor;
using vx::platform::ITensorHandle;

// A host that counts what it prepares, and an executor on it.
struct CountedExecutor {
  explicit CountedExecutor(
      const std::shared_ptr<vx::Context>& context = nullptr)
      : executor(device->CreateExecutor(0, 1, context)) {
    EXPECT_NE(executor, nullptr) << vx::LastError();
  }

  int prepares() const { return counting->prepares(); }

  std::shared_ptr<CountingDevice> counting =
      std::make_shared<CountingDevice>(device::CreateHostDevice());
  std::shared_ptr<vx::platform::NativeDevice> device = vx::platform::MakeDevice(
      {.id = 0,
       .name = "counted",
       .cores = 1,
       .open = [counting = counting](device::CoreRange)
           -> Result<device::Devices> { return device::Devices{counting}; }});
  std::shared_ptr<IExecutor> executor;
};

// An executable with tensors of the specs of its source's.
struct Bound {
  Bound(const std::shared_ptr<IExecutor>& executor,
        const std::shared_ptr<vx::Graph>& source)
      : executable(executor->Compile(source)) {
    EXPECT_NE(executable, nullptr) << vx::LastError();
    if (executable == nullptr) return;
    for (const auto& tensor : source->InputsTensor()) {
      inputs.push_back(executable->AllocateTensor(tensor->GetSpec()));
    }
    for (const auto& tensor : source->OutputsTensor()) {
      outputs.push_back(executable->AllocateTensor(tensor->GetSpec()));
    }
    executable->SetInputs(inputs);
    executable->SetOutputs(outputs);
  }

  Values Run(const std::vector<Values>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(inputs[i]->CopyDataToTensor(values[i].data(), 0));
    }
    EXPECT_TRUE(executable->Trigger()) << vx::LastError();
    return Read(outputs[0]->GetTensor());
  }

  std::shared_ptr<IExecutable> executable;
  std::vector<std::shared_ptr<ITensorHandle>> inputs, outputs;
};

// What is compiled from a binary graph anew is named after the NBG, too.
bool IsCompiledAnew(const vx::Graph& graph) {
  const ir::Plan* plan = vx::CompiledPlan(graph);
  EXPECT_NE(plan, nullptr);
  if (plan == nullptr) return false;
  for (const ir::Step& step : plan->steps) {
    if (step.label.find("NBG#") != std::string::npos) return true;
  }
  return false;
}

TEST(CompiledOnce, ForTheExecutorAndNotForTheGraphsContext) {
  CountedExecutor own, other;
  ReluGraph source({3}, other.executor->Contex()->CreateGraph());
  Bound bound(own.executor, source.graph);
  EXPECT_EQ(own.prepares(), 1);
  EXPECT_EQ(other.prepares(), 0);
  EXPECT_EQ(vx::CompiledPlan(*source.graph), nullptr);
  ASSERT_TRUE(bound.executable->Verify()) << vx::LastError();
  for (const float value : {1.0f, 2.0f}) {
    EXPECT_THAT(bound.Run({{value, -value, value}}),
                ElementsAre(value, 0, value));
  }
  EXPECT_EQ(own.prepares(), 1);
  EXPECT_FALSE(IsCompiledAnew(*bound.executable->NBGraph()));
  // The graph itself is as usable as before.
  Write<float>(source.input, {1, -1, 2});
  ASSERT_TRUE(source.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(source.output), ElementsAre(1, 0, 2));
  EXPECT_EQ(other.prepares(), 1);
}

TEST(CompiledOnce, WhatRunsAlreadyIsShared) {
  CountedExecutor on;
  ReluGraph source({3}, on.executor->Contex()->CreateGraph());
  ASSERT_TRUE(source.graph->Compile()) << vx::LastError();
  Bound a(on.executor, source.graph), b(on.executor, source.graph);
  EXPECT_EQ(on.prepares(), 1);
  EXPECT_THAT(a.Run({{1, -1, 1}}), ElementsAre(1, 0, 1));
  EXPECT_THAT(b.Run({{2, -2, 2}}), ElementsAre(2, 0, 2));
  // A context each.
  EXPECT_EQ(on.prepares(), 3);
  for (const Bound* bound : {&a, &b}) {
    EXPECT_EQ(vx::CompiledPlan(*bound->executable->NBGraph()),
              vx::CompiledPlan(*source.graph));
  }
}

TEST(CompiledOnce, WhatIsInferredServesAllExecutors) {
  CountedExecutor first, second;
  ReluGraph source({3});
  int calls = 0;
  source.graph->Override<vx::ops::Relu>(
      [&](vx::Graph* graph, const vx::Operation&) {
        ++calls;
        return graph->CreateOperation<vx::ops::Relu6>();
      });
  Bound a(first.executor, source.graph), b(second.executor, source.graph);
  EXPECT_THAT(a.Run({{7, -1, 1}}), ElementsAre(6, 0, 1));
  EXPECT_THAT(b.Run({{8, -1, 2}}), ElementsAre(6, 0, 2));
  Write<float>(source.input, {9, -1, 3});
  ASSERT_TRUE(source.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(source.output), ElementsAre(6, 0, 3));
  EXPECT_EQ(calls, 1);
  // Until the graph changes.
  source.graph->Override<vx::ops::Relu>(nullptr);
  Bound c(first.executor, source.graph);
  EXPECT_THAT(c.Run({{7, -1, 1}}), ElementsAre(7, 0, 1));
  EXPECT_EQ(calls, 1);
}

TEST(CompiledOnce, ShapesThatWereOpenAreFilledIn) {
  CountedExecutor on;
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2, 3}, vx::INPUT));
  const auto out = graph->CreateTensor(Floats({}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Transpose>(std::vector<uint32_t>{1, 0}))
      .BindInput(in)
      .BindOutput(out);
  Bound bound(on.executor, graph);
  EXPECT_EQ(out->GetShape(), (vx::ShapeType{3, 2}));
  EXPECT_EQ(bound.Run({{1, 2, 3, 4, 5, 6}}), (Values{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(on.prepares(), 1);
}

TEST(CompiledOnce, InputsThatNothingReadsStayInTheirPlaces) {
  CountedExecutor on;
  const auto graph = HostGraph();
  const auto unused = graph->CreateTensor(Floats({1}, vx::INPUT));
  const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(x).BindOutput(y);
  Bound bound(on.executor, graph);
  ASSERT_EQ(bound.inputs.size(), 2u);
  EXPECT_THAT(bound.Run({{5}, {-1, 3}}), ElementsAre(0, 3));
  EXPECT_EQ(on.prepares(), 1);
}

// state = state + in, out = state as it was.
struct Counter {
  explicit Counter(std::shared_ptr<vx::Graph> on) : graph(std::move(on)) {
    state = graph->CreateTensor(Floats({1}, vx::VARIABLE));
    const auto in = graph->CreateTensor(Floats({1}, vx::INPUT));
    const auto out = graph->CreateTensor(Floats({1}, vx::OUTPUT));
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({state, in})
        .BindOutput(state);
    (*graph->CreateOperation<vx::ops::DataConvert>())
        .BindInput(state)
        .BindOutput(out);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> state;
};

TEST(CompiledOnce, StatesBeginAsTheyWere) {
  CountedExecutor on;
  Counter counter(on.executor->Contex()->CreateGraph());
  Write<float>(counter.state, {100});
  Bound bound(on.executor, counter.graph);
  Write<float>(counter.state, {0});
  EXPECT_THAT(bound.Run({{1}}), ElementsAre(100));
  EXPECT_THAT(bound.Run({{1}}), ElementsAre(101));
  EXPECT_EQ(on.prepares(), 1);
  EXPECT_FALSE(IsCompiledAnew(*bound.executable->NBGraph()));
  EXPECT_THAT(Read(counter.state), ElementsAre(0));
  // Another of the same graph has its own, as it is now.
  Write<float>(counter.state, {7});
  Bound other(on.executor, counter.graph);
  EXPECT_THAT(other.Run({{1}}), ElementsAre(7));
  EXPECT_THAT(bound.Run({{1}}), ElementsAre(102));
}

TEST(CompiledOnce, ItsGraphCanBeWrittenAndCopied) {
  CountedExecutor on;
  Counter counter(HostGraph());
  Bound bound(on.executor, counter.graph);
  EXPECT_THAT(bound.Run({{5}}), ElementsAre(0));
  const std::vector<char> binary = ToBinary(*bound.executable->NBGraph());
  LoadedBinary loaded(binary, *counter.graph, HostGraph());
  Write<float>(loaded.inputs[0], {1});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(loaded.outputs[0]), ElementsAre(5));
  // A second NBG beside it is compiled with it.
  const auto graph = bound.executable->NBGraph();
  const auto nbg = graph->OpVector().at(0);
  EXPECT_NE(std::dynamic_pointer_cast<vx::ops::NBG>(nbg), nullptr);
  auto target = HostGraph();
  const auto x = target->CreateTensor(Floats({1}, vx::INPUT));
  const auto y = target->CreateTensor(Floats({1}, vx::OUTPUT));
  nbg->Clone(target)->BindInput(x).BindOutput(y);
  Write<float>(x, {2});
  ASSERT_TRUE(target->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(5));
  ASSERT_TRUE(target->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), ElementsAre(7));
}

TEST(CompiledOnce, AfterAChangeOfOverridesItStillRuns) {
  const auto context = HostContext();
  CountedExecutor on(context);
  Bound bound(on.executor, ReluGraph({2}).graph);
  EXPECT_THAT(bound.Run({{-1, 3}}), ElementsAre(0, 3));
  context->Override<vx::ops::Tanh>(nullptr);
  EXPECT_THAT(bound.Run({{4, -3}}), ElementsAre(4, 0));
  EXPECT_FALSE(IsCompiledAnew(*bound.executable->NBGraph()));
}

TEST(CompiledOnce, ABinaryGraphKeepsItsPlan) {
  CountedExecutor on;
  ReluGraph source({2}, on.executor->Contex()->CreateGraph());
  const std::vector<char> binary = ToBinary(*source.graph);
  LoadedBinary loaded(binary, *source.graph,
                      on.executor->Contex()->CreateGraph());
  Bound bound(on.executor, loaded.graph);
  EXPECT_THAT(bound.Run({{-1, 3}}), ElementsAre(0, 3));
  EXPECT_FALSE(IsCompiledAnew(*bound.executable->NBGraph()));
}

TEST(CompiledOnce, FailuresAreThoseOfCompile) {
  CountedExecutor on;
  ReluGraph g({2});
  (*g.graph->CreateOperation<vx::ops::Softmax>(1.0f, 9))
      .BindInput(g.input)
      .BindOutput(g.graph->CreateTensor(Floats({}, vx::TRANSIENT)));
  EXPECT_EQ(on.executor->Compile(g.graph), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("CompileToBinary()"));
  EXPECT_THAT(vx::LastError(), HasSubstr("Softmax#2"));
  EXPECT_EQ(g.graph->ErrorMessage(), vx::LastError());
  EXPECT_TRUE(CompileFailsWith(*g.graph, "Compile() failed before"));
  EXPECT_EQ(on.prepares(), 0);
}

class CompiledOnceOnOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ContextOn("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
    executor_ = vx::platform::IDevice::Enumerate()[0]->CreateExecutor();
    ASSERT_NE(executor_, nullptr) << vx::LastError();
  }
  std::shared_ptr<IExecutor> executor_;
};

TEST_F(CompiledOnceOnOpenCl, CustomOperationsOutliveTheirClass) {
  std::unique_ptr<Bound> bound;
  {
    OpPlan plan;
    plan.source =
        "__kernel void f(__global const float* x, __global float* y) {\n"
        "  y[get_global_id(0)] = 3 * x[get_global_id(0)];\n"
        "}\n";
    const TestOpGraph g(plan, {4}, executor_->Contex()->CreateGraph());
    bound = std::make_unique<Bound>(executor_, g.graph);
  }
  EXPECT_THAT(bound->Run({{1, 2, 3, 4}}), ElementsAre(3, 6, 9, 12));
  EXPECT_THAT(bound->Run({{5, 6, 7, 8}}), ElementsAre(15, 18, 21, 24));
  EXPECT_FALSE(IsCompiledAnew(*bound->executable->NBGraph()));
}

TEST_F(CompiledOnceOnOpenCl, KernelsThatDoNotBuildFailCompile) {
  OpPlan plan;
  plan.source = "__kernel void f(__global float* x) { undeclared = 1; }";
  const TestOpGraph g(plan, {4}, executor_->Contex()->CreateGraph());
  EXPECT_EQ(executor_->Compile(g.graph), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("undeclared"));
}

}  // namespace
}  // namespace tim::testing
