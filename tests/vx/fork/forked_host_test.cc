// Processes forked off one that has not used OpenCL, whatever its threads do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/options.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/child_process.h"
#include "tests/support/forked_process.h"
#include "tests/support/vx/fake_platform.h"
#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using vx::platform::IDevice;

void RunRelu(const std::shared_ptr<vx::Context>& context) {
  ASSERT_NE(context, nullptr) << vx::LastError();
  const ReluGraph relu({4}, context->CreateGraph());
  Write<float>(relu.input, {-1, 2, -3, 4});
  ASSERT_TRUE(relu.graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(relu.output), ElementsAre(0, 2, 0, 4));
}

// A process of its own: tests before this one may have used OpenCL.
#define IN_NEW_PROCESS(...)                             \
  if (!IsChild()) {                                     \
    const ChildResult result = RunAsChild(__VA_ARGS__); \
    EXPECT_EQ(result.exit_status, 0) << result.output;  \
    return;                                             \
  }

TEST(ForkedEarly, ParentAndChildrenUseOpenCl) {
  if (!GetOptions().device.empty()) GTEST_SKIP() << "TIMCL_DEVICE is set";
  IN_NEW_PROCESS({});
  EXPECT_PASSES(Fork([] {
    RunRelu(vx::Context::Create());
    // One generation later OpenCL is in use.
    EXPECT_PASSES(Fork([] {
      EXPECT_EQ(vx::Context::Create() != nullptr,
                device::CountOpenClDevices() == 0);
    }));
    RunRelu(vx::Context::Create());
  }));
  EXPECT_PASSES(Fork([] {
    EXPECT_PASSES(Fork([] { RunRelu(vx::Context::Create()); }));
    RunRelu(vx::Context::Create());
  }));
  RunRelu(vx::Context::Create());
}

TEST(ForkedEarly, ThreadsOfTheHostAreMadeAnew) {
  IN_NEW_PROCESS({{"TIMCL_DEVICE", "host"}});
  const auto context = vx::Context::Create();
  const auto device = IDevice::Enumerate().back();
  const auto executor = device->CreateExecutor();
  ASSERT_NE(executor, nullptr) << vx::LastError();
  std::atomic<int> runs = 0;
  // Waits in the queue for ever, as far as the child knows.
  Meeting meeting(2);
  const auto blocked = std::make_shared<CallingExecutable>(
      executor, [&] { return ++runs, meeting.Join(); });
  ASSERT_TRUE(blocked->Submit(blocked));
  ASSERT_TRUE(executor->Trigger(true));
  while (runs == 0) std::this_thread::yield();
  EXPECT_PASSES(Fork([&] {
    device->WaitDeviceIdle();
    RunRelu(context);
    std::atomic<int> own = 0;
    const auto counted = std::make_shared<CallingExecutable>(
        executor, [&] { return ++own > 0; });
    for (const bool async : {false, true}) {
      EXPECT_TRUE(counted->Submit(counted)) << vx::LastError();
      EXPECT_TRUE(executor->Trigger(async)) << vx::LastError();
    }
    device->WaitDeviceIdle();
    EXPECT_EQ(own, 2);
  }));
  EXPECT_TRUE(meeting.Join());
  device->WaitDeviceIdle();
}

// The runs that a device does by itself are those of the process that started
// them.
TEST(ForkedEarly, ChildrenHaveNoneOfTheRunsInFlight) {
  const FakePlatform on;
  const auto executor = on.Executor();
  const ReluRuns relu(executor);
  relu.Write({1, -1, 2});
  on.fake->Pause();
  ASSERT_TRUE(relu.Submit());
  ASSERT_TRUE(executor->Trigger(true)) << vx::LastError();
  EXPECT_PASSES(Fork([&] {
    on.fake->Resume();
    on.device->WaitDeviceIdle();
    relu.Write({3, -1, 4});
    for (const bool async : {false, true, true}) {
      EXPECT_TRUE(relu.Submit());
      EXPECT_TRUE(executor->Trigger(async)) << vx::LastError();
    }
    on.device->WaitDeviceIdle();
    EXPECT_THAT(relu.Read(), ElementsAre(3, 0, 4));
  }));
  on.fake->Resume();
  on.device->WaitDeviceIdle();
  EXPECT_THAT(relu.Read(), ElementsAre(1, 0, 2));
}

// A thread compiles, runs, overrides and triggers all the time: forks meet it
// wherever it is.
TEST(ForkedEarly, ForksMeetThreadsAnywhere) {
  IN_NEW_PROCESS({{"TIMCL_DEVICE", "host"}});
  const auto context = vx::Context::Create();
  const auto device = DeviceWithCores(2);
  const auto executor = device->CreateExecutor(0, 1, context);
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ends) {
        RunRelu(context);
        const ReluGraph relu({4}, context->CreateGraph());
        const auto executable = executor->Compile(relu.graph);
        executable->SetInput(executable->AllocateTensor(relu.input->GetSpec()));
        executable->SetOutput(
            executable->AllocateTensor(relu.output->GetSpec()));
        EXPECT_TRUE(executable->Trigger(true));
        context->Override<vx::ops::Tanh>(nullptr);
        relu.graph->Override<vx::ops::Tanh>(nullptr);
        device->WaitDeviceIdle();
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    const Forked forked = Fork([&] {
      RunRelu(context);
      RunRelu(vx::Context::Create());
      const ReluGraph relu({4}, context->CreateGraph());
      EXPECT_NE(executor->Compile(relu.graph), nullptr) << vx::LastError();
      device->WaitDeviceIdle();
      // The end of the test's own threads, which are not there, is not its.
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    });
    ASSERT_EQ(forked.signal, 0) << "fork " << i << forked.output;
    ASSERT_EQ(forked.exit_status, 0) << forked.output;
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tim::testing
