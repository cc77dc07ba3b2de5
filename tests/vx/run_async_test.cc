// Graph::RunAsync through the public API, on the host and on OpenCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/aligned_memory.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using vx::RunEvent;

// Whether the device is there is another test's matter: PoCL is in the suite.
class RunAsync : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    ASSERT_NE(context_, nullptr) << vx::LastError();
  }
  std::shared_ptr<vx::Graph> Graph() { return context_->CreateGraph(); }

  std::shared_ptr<vx::Context> context_;
};

TEST_P(RunAsync, RunsInFlightHaveMemoryOfTheirOwn) {
  ReluGraph relu({4}, Graph());
  Write<float>(relu.input, {-1, 2, -3, 4});
  ASSERT_TRUE(relu.graph->Run()) << vx::LastError();
  struct Frame {
    std::vector<float> input;
    std::vector<float> output = std::vector<float>(4, -1);
    RunEvent event = RunEvent();
  };
  std::vector<Frame> frames = {
      {{1, -2, 3, -4}}, {{-5, 6, -7, 8}}, {{0, 1, 2, 3}}};
  for (Frame& frame : frames) {
    frame.event =
        relu.graph->RunAsync({frame.input.data()}, {frame.output.data()});
    ASSERT_TRUE(frame.event) << vx::LastError();
  }
  for (Frame& frame : frames) {
    EXPECT_TRUE(frame.event.Wait()) << vx::LastError();
    EXPECT_TRUE(frame.event.Ready());
    EXPECT_EQ(frame.event.ErrorMessage(), "");
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(frame.output[i], std::max(0.0f, frame.input[i]));
    }
  }
  EXPECT_EQ(Read(relu.input), (std::vector<float>{-1, 2, -3, 4}));
  EXPECT_EQ(Read(relu.output), (std::vector<float>{0, 2, 0, 4}));
  ASSERT_TRUE(relu.graph->Run());
  EXPECT_EQ(Read(relu.output), (std::vector<float>{0, 2, 0, 4}));
}

TEST_P(RunAsync, CompilesWhereNeeded) {
  ReluGraph relu({2}, Graph());
  std::vector<float> input = {-1, 2};
  std::vector<float> output(2);
  const RunEvent event = relu.graph->RunAsync({input.data()}, {output.data()});
  ASSERT_TRUE(event) << vx::LastError();
  EXPECT_TRUE(event.Wait());
  EXPECT_EQ(output, (std::vector<float>{0, 2}));
}

// Memory that is not aligned works by copies, an output on an input too.
TEST_P(RunAsync, TakesMemoryAsItIs) {
  ReluGraph relu({16}, Graph());
  const AlignedMemory block = AllocateAligned(256, 64);
  for (const size_t offset : {0, 4, 12, 60}) {
    auto* in = reinterpret_cast<float*>(block.get() + offset);
    for (float* out : {in, in + 1, in + 20}) {
      for (int i = 0; i < 16; ++i) in[i] = static_cast<float>(i - 8);
      const RunEvent event = relu.graph->RunAsync({in}, {out});
      ASSERT_TRUE(event.Wait()) << vx::LastError();
      for (int i = 0; i < 16; ++i) {
        EXPECT_EQ(out[i], static_cast<float>(std::max(0, i - 8)));
      }
    }
  }
}

// Memory of finished runs is freed, and comes again at the same addresses.
TEST_P(RunAsync, MemoryMayBeFreedBehindTheRun) {
  ReluGraph relu({1024}, Graph());
  for (int run = 0; run < 50; ++run) {
    const size_t bytes = 4096;
    const AlignedMemory in = AllocateAligned(bytes, 64);
    const AlignedMemory out = AllocateAligned(bytes, 64);
    auto* input = reinterpret_cast<float*>(in.get());
    for (int i = 0; i < 1024; ++i) input[i] = static_cast<float>(i - run);
    ASSERT_TRUE(relu.graph->RunAsync({in.get()}, {out.get()}).Wait());
    const auto* output = reinterpret_cast<const float*>(out.get());
    for (int i = 0; i < 1024; ++i) {
      ASSERT_EQ(output[i], static_cast<float>(std::max(0, i - run)));
    }
  }
}

TEST_P(RunAsync, WrongMemoryIsNoRun) {
  ReluGraph relu({2}, Graph());
  std::vector<float> data(2);
  EXPECT_FALSE(relu.graph->RunAsync({}, {data.data()}));
  EXPECT_THAT(vx::LastError(), HasSubstr("memory for 0 inputs, the graph has "
                                         "1"));
  EXPECT_FALSE(relu.graph->RunAsync({data.data()}, {nullptr}));
  EXPECT_THAT(vx::LastError(), HasSubstr("the memory of output 0, tensor "));
  EXPECT_THAT(relu.graph->ErrorMessage(), HasSubstr("is null"));
  const RunEvent none;
  EXPECT_FALSE(none.Wait());
  EXPECT_TRUE(none.Ready());
  EXPECT_THAT(none.ErrorMessage(), HasSubstr("a RunEvent without a run"));
  std::string told;
  none.Then([&](const char* error) { told = error; });
  EXPECT_THAT(told, HasSubstr("a RunEvent without a run"));
  EXPECT_TRUE(relu.graph->RunAsync({data.data()}, {data.data()}).Wait());
}

TEST_P(RunAsync, AGraphThatDoesNotCompileIsNoRun) {
  auto graph = Graph();
  EXPECT_FALSE(graph->RunAsync({}, {}));
  EXPECT_THAT(vx::LastError(), HasSubstr("is empty"));
}

// The sum of all inputs so far.
TEST_P(RunAsync, RunsOfAVariableFollowOneAnother) {
  auto graph = Graph();
  auto in = graph->CreateTensor(Floats({2}, vx::INPUT));
  auto sum = graph->CreateTensor(Floats({2}, vx::VARIABLE));
  auto out = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Add>()->BindInputs({in, sum}).BindOutput(sum);
  graph->CreateOperation<vx::ops::Add>()->BindInputs({in, sum}).BindOutput(out);
  std::vector<std::vector<float>> inputs;
  for (float i = 0; i < 12; ++i) inputs.push_back({i, 1});
  std::vector<std::vector<float>> outputs(12, std::vector<float>(2));
  std::vector<RunEvent> events;
  for (size_t i = 0; i < 12; ++i) {
    events.push_back(graph->RunAsync({inputs[i].data()}, {outputs[i].data()}));
    ASSERT_TRUE(events.back()) << vx::LastError();
  }
  EXPECT_EQ(Read(sum), (std::vector<float>{66, 12}));  // waits
  float before = 0;
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_TRUE(events[i].Wait());
    const auto value = static_cast<float>(i);
    EXPECT_EQ(outputs[i], (std::vector<float>{before + value, value + 1}));
    before += value;
  }
}

TEST_P(RunAsync, TheGraphMayGoBeforeItsEvents) {
  std::vector<float> input = {-1, 2};
  std::vector<float> output(2);
  RunEvent event;
  std::atomic<int> calls = 0;
  {
    ReluGraph relu({2}, Graph());
    event = relu.graph->RunAsync({input.data()}, {output.data()});
    event.Then([&](const char* error) {
      EXPECT_EQ(error, nullptr);
      ++calls;
    });
  }
  EXPECT_TRUE(event.Ready());
  EXPECT_TRUE(event.Wait());
  EXPECT_EQ(output, (std::vector<float>{0, 2}));
  EXPECT_EQ(calls, 1);
}

// Changes of the graph count for later runs.
TEST_P(RunAsync, ChangesOfConstantsCountForLaterRuns) {
  auto graph = Graph();
  const std::vector<float> one = {1, 1};
  const std::vector<float> two = {2, 2};
  auto in = graph->CreateTensor(Floats({2}, vx::INPUT));
  auto constant = graph->CreateTensor(Floats({2}, vx::CONSTANT), one.data());
  auto out = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Add>()
      ->BindInputs({in, constant})
      .BindOutput(out);
  std::vector<float> input = {5, 6};
  std::vector<float> first(2);
  std::vector<float> second(2);
  const RunEvent before = graph->RunAsync({input.data()}, {first.data()});
  ASSERT_TRUE(constant->CopyDataToTensor(two.data()));
  const RunEvent after = graph->RunAsync({input.data()}, {second.data()});
  EXPECT_TRUE(after.Wait());
  EXPECT_TRUE(before.Ready());
  EXPECT_EQ(first, (std::vector<float>{6, 7}));
  EXPECT_EQ(second, (std::vector<float>{7, 8}));
}

INSTANTIATE_TEST_SUITE_P(Graph, RunAsync, ::testing::Values("host", "opencl"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

// Some 100 ms of one work-item.
OpPlan SlowPlan() {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  float sum = x[0];\n"
      "  for (int i = 0; i < 100000000; ++i) sum = sum * 0.5f + 1.0f;\n"
      "  y[0] = sum + x[0];\n"
      "}\n";
  return plan;
}

TEST(RunAsyncOnOpenCl, ReturnsBeforeASlowKernelEnds) {
  using Clock = std::chrono::steady_clock;
  TestOpGraph slow(SlowPlan(), {1});
  slow.Run({1});
  const auto start = Clock::now();
  slow.Run({1});
  const auto whole = Clock::now() - start;
  std::vector<float> input = {3};
  std::vector<float> output = {-1};
  const auto called = Clock::now();
  const RunEvent event = slow.graph->RunAsync({input.data()}, {output.data()});
  const auto returned = Clock::now() - called;
  const bool ready = event.Ready();
  ASSERT_TRUE(event.Wait()) << vx::LastError();
  EXPECT_FLOAT_EQ(output[0], 5);
  EXPECT_FALSE(ready);
  EXPECT_LT(returned, whole / 2);
}

}  // namespace
}  // namespace tim::testing
