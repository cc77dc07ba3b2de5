// Devices that fail: what clients see.
#include <gtest/gtest.h>

#include <stdexcept>

#include "device/host/host_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;

constexpr int kNoLimit = 1 << 30;  // of allocations

class FailingDevice : public ::testing::Test {
 protected:
  std::shared_ptr<FakeDevice> fake_ = std::make_shared<FakeDevice>();
  std::shared_ptr<vx::Context> context_ =
      vx::CreateContext({device::CreateHostDevice(), fake_});
};

TEST_F(FailingDevice, WorksUnlessTold) {
  ReluGraph g({2}, context_->CreateGraph());
  Write<float>(g.input, {1, -1});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (Values{1, 0}));
  EXPECT_GT(fake_->steps_run(), 0);
}

TEST_F(FailingDevice, OutOfMemoryIsTriedAgain) {
  for (const bool by_run : {false, true}) {
    ReluGraph g({2}, context_->CreateGraph());
    fake_->FailAllocationsAfter(0);
    EXPECT_TRUE(CompileFailsWith(*g.graph, "out of memory: an arena of"));
    const std::string reason = vx::LastError();
    EXPECT_FALSE(g.graph->Run());
    EXPECT_EQ(vx::LastError(), reason) << "it failed again, not before";
    fake_->FailAllocationsAfter(kNoLimit);
    EXPECT_TRUE(by_run || g.graph->Compile()) << vx::LastError();
    Write<float>(g.input, {1, -1});
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(g.output), (Values{1, 0}));
  }
}

// Wherever it happens, a state keeps its value.
TEST_F(FailingDevice, OutOfMemoryAtAnyAllocationIsTriedAgain) {
  int failures = 0;
  for (int allowed = 0;; ++allowed) {
    const auto graph = context_->CreateGraph();
    const Values start = {3, -4};
    const auto state =
        graph->CreateTensor(Floats({2}, vx::VARIABLE), start.data());
    const auto x = graph->CreateTensor(Floats({2}, vx::INPUT), start.data());
    const auto constant =
        graph->CreateTensor(Floats({2}, vx::CONSTANT), start.data());
    const auto sum = graph->CreateTensor(Floats({2}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({x, constant})
        .BindOutput(sum);
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({state, sum})
        .BindOutput(state);
    fake_->FailAllocationsAfter(allowed);
    const bool compiled = graph->Compile();
    fake_->FailAllocationsAfter(kNoLimit);
    if (compiled) break;
    ++failures;
    EXPECT_NE(vx::LastError().find("out of memory"), std::string::npos);
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(state), (Values{9, -12})) << allowed;
  }
  EXPECT_GT(failures, 2);
}

TEST_F(FailingDevice, ALostDeviceIsTriedAgain) {
  ReluGraph other({2}, context_->CreateGraph());
  ASSERT_TRUE(other.graph->Compile()) << vx::LastError();
  fake_->LoseAtStep(1);
  EXPECT_FALSE(other.graph->Run());
  ReluGraph g({2}, context_->CreateGraph());
  EXPECT_TRUE(CompileFailsWith(*g.graph, "device lost"));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "device lost"));
  EXPECT_EQ(vx::LastError().find("before"), std::string::npos);
  fake_->ResetLost();
  Write<float>(g.input, {1, -1});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(g.output), (Values{1, 0}));
}

TEST_F(FailingDevice, AKernelThatDoesNotBuildIsFinal) {
  ReluGraph g({2}, context_->CreateGraph());
  fake_->FailNextPrepare();
  ASSERT_FALSE(g.graph->Compile());
  EXPECT_TRUE(CompileFailsWith(*g.graph, "a new graph is needed"));
  EXPECT_NE(vx::LastError().find("told to fail the build"), std::string::npos);
  EXPECT_FALSE(g.graph->Run());
}

// What is thrown in the library is no mistake of the user's.
TEST(OwnException, IsAnInternalErrorAndTriedAgain) {
  bool fail = true;
  vx::ContextOptions options;
  options.placement = [&](const ir::Node&) {
    if (fail) throw std::runtime_error("thrown by a pass");
    return -1;
  };
  const auto context = vx::CreateContext({device::CreateHostDevice()}, options);
  ReluGraph g({2}, context->CreateGraph());
  EXPECT_TRUE(CompileFailsWith(*g.graph, "internal error: graph g"));
  EXPECT_NE(vx::LastError().find("an exception was thrown: thrown by a"),
            std::string::npos)
      << vx::LastError();
  fail = false;
  EXPECT_TRUE(g.graph->Run()) << vx::LastError();
}

TEST_F(FailingDevice, BuildFailureNamesTheGraph) {
  ReluGraph g({2}, context_->CreateGraph());
  fake_->FailNextPrepare();
  EXPECT_TRUE(CompileFailsWith(*g.graph, "graph g"));
}

TEST_F(FailingDevice, LostDeviceFailsEveryRun) {
  ReluGraph g({2}, context_->CreateGraph());
  ASSERT_TRUE(g.graph->Compile()) << vx::LastError();
  fake_->LoseAtStep(1);
  EXPECT_FALSE(g.graph->Run());
  EXPECT_NE(vx::LastError().find("lost"), std::string::npos) << vx::LastError();
  EXPECT_FALSE(g.graph->Run());
  EXPECT_NE(g.graph->ErrorMessage().find("lost"), std::string::npos);
  EXPECT_TRUE(g.input->CopyDataToTensor(Values{1, 2}.data()));
}

TEST_F(FailingDevice, StateOfALostDeviceCannotBeRead) {
  const auto graph = context_->CreateGraph();
  const auto state = graph->CreateTensor(Floats({2}, vx::VARIABLE));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(state).BindOutput(
      graph->CreateTensor(Floats({2}, vx::OUTPUT)));
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  fake_->LoseAtStep(1);
  EXPECT_FALSE(graph->Run());
  Values values(2);
  EXPECT_FALSE(state->CopyDataFromTensor(values.data()));
  EXPECT_NE(vx::LastError().find("lost"), std::string::npos);
}

}  // namespace
}  // namespace tim::testing
