// Processes forked off one that has used OpenCL: whatever would touch a driver
// fails at once and says what to do, and the end releases nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "base/options.h"
#include "device/opencl/opencl_device.h"
#include "runtime/device_pool.h"
#include "tests/support/forked_process.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/lite/execution.h"
#include "tim/transform/layout_inference.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/platform/native.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using vx::platform::IDevice;
using Values = std::vector<float>;

// What a user can do about it.
::testing::AssertionResult SaysSo(const std::string& error) {
  for (const char* text : {"forked off one that had used OpenCL",
                           "fork before OpenCL is first used", "exec()"}) {
    if (error.find(text) != std::string::npos) continue;
    return ::testing::AssertionFailure() << "'" << error << "' lacks " << text;
  }
  return ::testing::AssertionSuccess();
}

#define EXPECT_REFUSED(...)               \
  do {                                    \
    EXPECT_FALSE(__VA_ARGS__);            \
    EXPECT_TRUE(SaysSo(vx::LastError())); \
  } while (false)

class ForkedOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
    context_ = ContextOn("opencl");
    ASSERT_NE(context_, nullptr) << vx::LastError();
    relu_.emplace(vx::ShapeType{4}, context_->CreateGraph());
    Write<float>(relu_->input, {-1, 2, -3, 4});
    ASSERT_TRUE(relu_->graph->Run()) << vx::LastError();
  }

  // The parent goes on.
  void TearDown() override {
    if (!relu_) return;
    Write<float>(relu_->input, {5, -6, 7, -8});
    ASSERT_TRUE(relu_->graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(relu_->output), ElementsAre(5, 0, 7, 0));
  }

  std::shared_ptr<vx::Context> context_;
  std::optional<ReluGraph> relu_;
};

TEST_F(ForkedOpenCl, RunFails) {
  EXPECT_PASSES(Fork([this] {
    EXPECT_THAT(Read(relu_->output), ElementsAre(0, 2, 0, 4));
    for (int i = 0; i < 3; ++i) {
      EXPECT_REFUSED(relu_->graph->Run());
      EXPECT_TRUE(SaysSo(relu_->graph->ErrorMessage()));
    }
    float* moved = static_cast<float*>(std::aligned_alloc(64, 64));
    EXPECT_TRUE(relu_->input->SwapHandle(moved, true, nullptr));
    EXPECT_REFUSED(relu_->graph->Run());
  }));
}

TEST_F(ForkedOpenCl, CompilationFails) {
  const ReluGraph fresh({5}, context_->CreateGraph());
  EXPECT_PASSES(Fork([&] {
    for (int i = 0; i < 2; ++i) EXPECT_REFUSED(fresh.graph->Compile());
    EXPECT_REFUSED(fresh.graph->Run());
    size_t size = 0;
    EXPECT_REFUSED(fresh.graph->CompileToBinary(nullptr, &size));
    EXPECT_REFUSED(relu_->graph->CompileToBinary(nullptr, &size));
    (*relu_->graph->CreateOperation<vx::ops::Tanh>())
        .BindInput(relu_->output)
        .BindOutput(relu_->graph->CreateTensor(Floats({4}, vx::OUTPUT)));
    EXPECT_REFUSED(relu_->graph->Run());  // compiles again
    const auto inferred = transform::LayoutInference(fresh.graph, context_);
    EXPECT_REFUSED(inferred.first->Compile());
  }));
}

TEST_F(ForkedOpenCl, StatesStayWhereTheyAre) {
  const auto graph = context_->CreateGraph();
  const auto input = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto state = graph->CreateTensor(Floats({2}, vx::VARIABLE));
  (*graph->CreateOperation<vx::ops::Add>())
      .BindInputs({input, state})
      .BindOutput(state);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_PASSES(Fork([&] {
    Values values(2);
    EXPECT_REFUSED(state->CopyDataFromTensor(values.data()));
    EXPECT_REFUSED(state->CopyDataToTensor(values.data()));
    EXPECT_REFUSED(state->ConvertTensorToFloat32Data() != nullptr);
    EXPECT_REFUSED(graph->Run());
  }));
}

TEST_F(ForkedOpenCl, ContextsNeedTheHost) {
  if (!GetOptions().device.empty()) GTEST_SKIP() << "TIMCL_DEVICE is set";
  EXPECT_PASSES(Fork([this] {
    EXPECT_REFUSED(vx::Context::Create() != nullptr);
    for (const std::string wanted : {"", "opencl", "opencl:0"}) {
      EXPECT_TRUE(SaysSo(runtime::SelectDevices(wanted).status().message()));
    }
    EXPECT_REFUSED(ReluGraph({4}, context_->CreateGraph()).graph->Run());
  }));
}

// Devices keep their numbers, and that of the host works.
TEST_F(ForkedOpenCl, HostDeviceWorks) {
  if (!GetOptions().device.empty()) GTEST_SKIP() << "TIMCL_DEVICE is set";
  const auto context = vx::Context::Create();
  const auto listed = runtime::ListDevices();
  EXPECT_PASSES(Fork([&] {
    const auto devices = IDevice::Enumerate();
    ASSERT_EQ(devices.size(), listed.size());
    EXPECT_EQ(devices[0]->Name(), listed[0].name);
    EXPECT_REFUSED(devices[0]->CreateExecutor() != nullptr);
    vx::CompileOption options;
    options.setDeviceId(devices.back()->Id());
    const ReluGraph relu({4}, context->CreateGraph(options));
    Write<float>(relu.input, {-1, 2, -3, 4});
    EXPECT_TRUE(relu.graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(relu.output), ElementsAre(0, 2, 0, 4));
    const auto executor = devices.back()->CreateExecutor();
    ASSERT_NE(executor, nullptr) << vx::LastError();
    EXPECT_NE(executor->Compile(relu.graph), nullptr) << vx::LastError();
  }));
}

TEST_F(ForkedOpenCl, QueuesFail) {
  const auto devices = IDevice::Enumerate();
  const auto executor = devices[0]->CreateExecutor();
  ASSERT_NE(executor, nullptr) << vx::LastError();
  const auto executable = executor->Compile(relu_->graph);
  ASSERT_NE(executable, nullptr) << vx::LastError();
  const auto input = executable->AllocateTensor(relu_->input->GetSpec());
  const auto output = executable->AllocateTensor(relu_->output->GetSpec());
  executable->SetInput(input);
  executable->SetOutput(output);
  ASSERT_TRUE(executable->Submit(executable)) << vx::LastError();
  ASSERT_TRUE(executor->Trigger()) << vx::LastError();
  ASSERT_TRUE(executable->Submit(executable)) << vx::LastError();
  for (int i = 0; i < 50; ++i) executable->Trigger(true);
  EXPECT_PASSES(Fork([&] {
    EXPECT_REFUSED(executor->Trigger());  // what the parent has submitted
    EXPECT_REFUSED(executable->Trigger());
    EXPECT_REFUSED(executor->Compile(relu_->graph) != nullptr);
    EXPECT_TRUE(executable->Trigger(true));
    devices[0]->WaitDeviceIdle();
    EXPECT_TRUE(SaysSo(vx::LastError()));
    EXPECT_TRUE(devices[0]->Submit(relu_->graph));
    EXPECT_REFUSED(devices[0]->Trigger());
    EXPECT_TRUE(devices[0]->DeviceExit());
  }));
  devices[0]->WaitDeviceIdle();
  EXPECT_TRUE(executor->Trigger()) << vx::LastError();
}

TEST_F(ForkedOpenCl, LiteExecutionsFail) {
  const std::vector<char> binary = ToBinary(*relu_->graph);
  const auto run = lite::Execution::Create(binary.data(), binary.size());
  ASSERT_NE(run, nullptr) << vx::LastError();
  alignas(64) std::array<uint8_t, 64> input = {};
  alignas(64) std::array<uint8_t, 64> output = {};
  run->BindInputs({run->CreateInputHandle(0, input.data(), 16)});
  run->BindOutputs({run->CreateOutputHandle(0, output.data(), 16)});
  ASSERT_TRUE(run->Trigger()) << vx::LastError();
  EXPECT_PASSES(Fork([&] {
    if (GetOptions().device.empty()) {
      EXPECT_REFUSED(run->Trigger());
      EXPECT_REFUSED(lite::Execution::Create(binary.data(), binary.size()) !=
                     nullptr);
    }
  }));
}

// Of a process that itself does nothing.
TEST_F(ForkedOpenCl, GrandchildrenFailToo) {
  EXPECT_PASSES(Fork([this] {
    EXPECT_PASSES(Fork([this] { EXPECT_REFUSED(relu_->graph->Run()); }));
  }));
}

TEST_F(ForkedOpenCl, EverythingCanBeDestroyed) {
  EXPECT_PASSES(Fork([this] {
    relu_.reset();
    context_.reset();
  }));
  EXPECT_PASSES(Fork([this] {
    EXPECT_REFUSED(relu_->graph->Run());
    relu_.reset();
    context_.reset();
  }));
  // By the end of the process, and after it by nobody.
  static std::shared_ptr<vx::Graph> last;
  last = relu_->graph;
  EXPECT_PASSES(Fork([] {}));
  last.reset();
}

}  // namespace
}  // namespace tim::testing
