// IDevice: what there is, executors on its cores, and graphs that it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/child_process.h"
#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/platform/lite/lite_native.h"
#include "vx/core/failure.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Values = std::vector<float>;
using vx::platform::IDevice;
using vx::platform::NativeDevice;
using vx::platform::NativeExecutor;

bool RunsBesideTheHost(const vx::Graph& graph) {
  for (const ir::Step& step : vx::CompiledPlan(graph)->steps) {
    if (step.device != 0) return true;
  }
  return false;
}

TEST(Enumerate, NumbersTheListedDevices) {
  const auto devices = IDevice::Enumerate();
  const auto list = runtime::ListDevices();
  ASSERT_EQ(devices.size(), list.size());
  for (uint32_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i]->Id(), i);
    EXPECT_EQ(devices[i]->Name(), list[i].name);
    EXPECT_EQ(devices[i]->CoreCount(), static_cast<uint32_t>(list[i].cores));
    EXPECT_TRUE(devices[i]->DeviceExit());
    devices[i]->RemoteReset();
  }
  EXPECT_EQ(devices.back()->Name(), "host");
}

TEST(Enumerate, HasTheNamesOfEveryGeneration) {
  EXPECT_EQ(NativeDevice::Enumerate().size(), IDevice::Enumerate().size());
  EXPECT_EQ(vx::platform::LiteNativeDevice::Enumerate().size(),
            IDevice::Enumerate().size());
  EXPECT_TRUE(vx::platform::LiteNativeDevice::vip_initialized);
}

struct CoreCase {
  int32_t index;
  int32_t count;
  uint32_t first;
  uint32_t cores;
};

TEST(CreateExecutor, TakesCores) {
  const auto device = DeviceWithCores(4);
  for (const CoreCase& c :
       {CoreCase{0, -1, 0, 4}, CoreCase{-1, -1, 0, 4}, CoreCase{1, 0, 1, 3},
        CoreCase{1, 2, 1, 2}, CoreCase{3, 1, 3, 1}, CoreCase{3, 5, 3, 1},
        CoreCase{std::numeric_limits<int32_t>::min(),
                 std::numeric_limits<int32_t>::max(), 0, 4}}) {
    const auto executor = device->CreateExecutor(c.index, c.count);
    ASSERT_NE(executor, nullptr) << vx::LastError();
    EXPECT_EQ(executor->CoreIndex(), c.first);
    EXPECT_EQ(executor->CoreCount(), c.cores);
    EXPECT_EQ(executor->Device(), device);
    EXPECT_NE(executor->Contex(), nullptr);
    EXPECT_EQ(executor->GetContext(), executor->Contex());
  }
}

TEST(CreateExecutor, CutsCoresWithAWarning) {
  ::testing::internal::CaptureStderr();
  const auto executor = DeviceWithCores(4)->CreateExecutor(3, 5);
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_NE(executor, nullptr) << vx::LastError();
  EXPECT_THAT(log, HasSubstr("on 5 cores from core 3 of device 0 gets 1: it "
                             "has 4"));
}

TEST(CreateExecutor, CoresThatAreNotThereAreRefused) {
  const auto device = DeviceWithCores(4);
  for (const int32_t index : {4, 5, std::numeric_limits<int32_t>::max()}) {
    EXPECT_EQ(device->CreateExecutor(index), nullptr);
    EXPECT_EQ(vx::LastError(), "an executor on core " + std::to_string(index) +
                                   " of device 0, which has 4, numbered from "
                                   "0");
  }
}

TEST(CreateExecutor, OpensTheCoresOnce) {
  std::vector<device::CoreRange> opened;
  const auto device = vx::platform::MakeDevice(
      {.id = 3, .name = "test", .cores = 4, .open = [&](device::CoreRange c) {
         opened.push_back(c);
         return runtime::SelectDevices("host");
       }});
  ASSERT_NE(device->CreateExecutor(1, 2), nullptr) << vx::LastError();
  EXPECT_THAT(opened, ::testing::ElementsAre(device::CoreRange{1, 2}));
}

TEST(CreateExecutor, TellsWhyADeviceCannotBeOpened) {
  const auto device = vx::platform::MakeDevice(
      {.id = 0,
       .name = "gone",
       .cores = 1,
       .open = [](device::CoreRange) -> Result<device::Devices> {
         return DeviceLost("it is gone");
       }});
  EXPECT_EQ(device->CreateExecutor(), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("it is gone"));
}

TEST(CreateExecutor, KeepsTheContextGiven) {
  const auto context = HostContext();
  const auto executor = DeviceWithCores(1)->CreateExecutor(0, 1, context);
  ASSERT_NE(executor, nullptr) << vx::LastError();
  EXPECT_EQ(executor->Contex(), context);
}

TEST(CreateExecutor, ANewContextsGraphsRunOnItsCores) {
  for (const auto& device : IDevice::Enumerate()) {
    for (uint32_t core = 0; core < device->CoreCount(); ++core) {
      const auto executor =
          device->CreateExecutor(static_cast<int32_t>(core), 1);
      ASSERT_NE(executor, nullptr) << vx::LastError();
      ReluGraph g({3}, executor->Contex()->CreateGraph());
      Write<float>(g.input, {1, -2, 3});
      ASSERT_TRUE(g.graph->Run()) << vx::LastError();
      EXPECT_EQ(Read(g.output), (Values{1, 0, 3}));
    }
  }
}

TEST(NativeExecutor, IsMadeOfADeviceAsInEarlierVersions) {
  const std::shared_ptr<IDevice> device = DeviceWithCores(3);
  const auto executor = std::make_shared<NativeExecutor>(device);
  EXPECT_EQ(executor->CoreCount(), 3u);
  EXPECT_NE(executor->Contex(), nullptr);
  const auto context = HostContext();
  const auto other = std::make_shared<NativeExecutor>(device, context);
  EXPECT_EQ(other->Contex(), context);
}

TEST(NativeExecutor, WithoutADeviceFailsEveryCall) {
  NativeExecutor executor(nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("a device of IDevice::Enumerate()"));
  EXPECT_FALSE(executor.Trigger());
  EXPECT_THAT(vx::LastError(), StartsWith("Trigger() of an executor: "));
  EXPECT_FALSE(executor.Submit(nullptr, nullptr));
  EXPECT_THAT(vx::LastError(), StartsWith("Submit() of an executor: "));
  EXPECT_EQ(executor.Compile(ReluGraph({1}).graph), nullptr);
  EXPECT_THAT(vx::LastError(), StartsWith("Compile() of an executor: "));
}

TEST(PlatformCompile, NeedsAGraphAndAnExecutor) {
  const auto executor = DeviceWithCores(1)->CreateExecutor();
  EXPECT_EQ(vx::platform::Compile(nullptr, executor), nullptr);
  EXPECT_EQ(vx::platform::Compile(ReluGraph({1}).graph, nullptr), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("needs a graph and an executor"));
  EXPECT_EQ(executor->Compile(nullptr), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("needs a graph"));
}

// Graphs that are submitted as they are, on each device.
TEST(SubmittedGraphs, RunOnTheDevice) {
  const auto context = vx::Context::Create();
  ASSERT_NE(context, nullptr) << vx::LastError();
  for (const auto& device : IDevice::Enumerate()) {
    ReluGraph a({3}, context->CreateGraph()), b({3}, context->CreateGraph());
    Write<float>(a.input, {1, -2, 3});
    Write<float>(b.input, {-1, 2, -3});
    ASSERT_TRUE(device->Submit(a.graph)) << vx::LastError();
    ASSERT_TRUE(device->Submit(b.graph)) << vx::LastError();
    ASSERT_TRUE(device->Trigger()) << vx::LastError();
    EXPECT_EQ(Read(a.output), (Values{1, 0, 3}));
    EXPECT_EQ(Read(b.output), (Values{0, 2, 0}));
    EXPECT_EQ(RunsBesideTheHost(*a.graph), device->Name() != "host");
    EXPECT_FALSE(device->Trigger());
    EXPECT_THAT(vx::LastError(), HasSubstr("nothing was submitted"));
  }
}

TEST(SubmittedGraphs, MayRunAsynchronously) {
  const auto device = IDevice::Enumerate().back();
  ReluGraph g({3});
  Write<float>(g.input, {1, -2, 3});
  int calls = 0;
  ASSERT_TRUE(device->Submit(g.graph)) << vx::LastError();
  ASSERT_TRUE(device->Trigger(true, [&](const void* reason) {
    EXPECT_EQ(reason, nullptr);
    ++calls;
    return true;
  })) << vx::LastError();
  device->WaitDeviceIdle();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Read(g.output), (Values{1, 0, 3}));
}

TEST(SubmittedGraphs, MayBeForgottenByTheirClient) {
  const auto device = IDevice::Enumerate().back();
  std::shared_ptr<vx::Tensor> output;
  {
    ReluGraph g({3});
    Write<float>(g.input, {1, -2, 3});
    output = g.output;
    ASSERT_TRUE(device->Submit(g.graph));
    ASSERT_TRUE(device->Trigger(true));
  }
  device->WaitDeviceIdle();
  EXPECT_EQ(Read(output), (Values{1, 0, 3}));
}

TEST(SubmittedGraphs, FailuresAreTold) {
  const auto device = IDevice::Enumerate().back();
  const auto empty = HostGraph();
  ReluGraph good({1});
  Write<float>(good.input, {2});
  for (const bool async : {false, true}) {
    Write<float>(good.output, {-1});
    ASSERT_TRUE(device->Submit(empty));
    ASSERT_TRUE(device->Submit(good.graph));
    std::string reason;
    EXPECT_EQ(device->Trigger(async,
                              [&](const void* data) {
                                reason = static_cast<const char*>(data);
                                return false;
                              }),
              async);
    vx::Fail(NotFound("something else"));
    device->WaitDeviceIdle();
    EXPECT_THAT(reason, HasSubstr("is empty"));
    EXPECT_THAT(vx::LastError(), HasSubstr(async ? "is empty" : "else"));
    EXPECT_EQ(Read(good.output), (Values{2})) << "the others run";
  }
  EXPECT_FALSE(device->Submit(nullptr));
  EXPECT_THAT(vx::LastError(), HasSubstr("needs a graph of this library"));
}

TEST(Devices, EnvironmentWins) {
  if (!IsChild()) {
    const ChildResult child = RunAsChild({{"TIMCL_DEVICE", "host"}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
    return;
  }
  for (const auto& device : IDevice::Enumerate()) {
    const auto executor = device->CreateExecutor(0, 1);
    ASSERT_NE(executor, nullptr) << vx::LastError();
    EXPECT_EQ(executor->Contex()->DeviceName(), "host");
    ReluGraph g({1}, vx::Context::Create()->CreateGraph());
    ASSERT_TRUE(device->Submit(g.graph));
    ASSERT_TRUE(device->Trigger()) << vx::LastError();
    EXPECT_FALSE(RunsBesideTheHost(*g.graph));
  }
}

}  // namespace
}  // namespace tim::testing
