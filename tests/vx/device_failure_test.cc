// Devices that fail: what clients see.
#include <gtest/gtest.h>

#include "device/host/host_device.h"
#include "tests/support/fake_device.h"
#include "tests/support/vx_graph.h"
#include "vx/context_impl.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;

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

TEST_F(FailingDevice, OutOfMemoryFailsCompileForGood) {
  ReluGraph g({2}, context_->CreateGraph());
  fake_->FailAllocationsAfter(0);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "out of memory: an arena of"));
  const std::string reason = vx::LastError();
  EXPECT_FALSE(g.graph->Run());
  EXPECT_EQ(vx::LastError(), reason);
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
