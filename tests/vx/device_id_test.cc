// CompileOption::setDeviceId(): on which of the listed devices a graph runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/options.h"
#include "runtime/device_pool.h"
#include "tests/support/child_process.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/compile_option.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<float>;

vx::CompileOption OnDevice(uint32_t number) {
  vx::CompileOption options;
  options.setDeviceId(number);
  return options;
}

uint32_t HostNumber() {
  return static_cast<uint32_t>(runtime::ListDevices().size()) - 1;
}

// Whether a device of the graph's plan has a step.
bool RunsBesideTheHost(const vx::Graph& graph) {
  const ir::Plan* plan = vx::CompiledPlan(graph);
  return std::any_of(plan->steps.begin(), plan->steps.end(),
                     [](const ir::Step& step) { return step.device != 0; });
}

std::shared_ptr<vx::Context> DefaultContext() {
  return GetOptions().device.empty() ? vx::Context::Create() : nullptr;
}

TEST(ListDevices, HostIsTheLast) {
  const auto list = runtime::ListDevices();
  EXPECT_EQ(static_cast<int>(list.size()), device::CountOpenClDevices() + 1);
  EXPECT_EQ(list.back().name, "host");
  EXPECT_EQ(list.back().cores, 1);
  for (size_t i = 0; i + 1 < list.size(); ++i) {
    EXPECT_THAT(list[i].name, HasSubstr("opencl: "));
    EXPECT_GE(list[i].cores, 1);
  }
}

TEST(SelectListedDevice, GivesEachDevice) {
  const auto list = runtime::ListDevices();
  for (uint32_t i = 0; i < list.size(); ++i) {
    const auto devices = runtime::SelectListedDevice(i, {}, "");
    ASSERT_OK(devices);
    EXPECT_EQ((*devices)[0]->info().kind, "host");
    EXPECT_EQ(devices->size(), i == HostNumber() ? 1u : 2u);
  }
}

TEST(SelectListedDevice, SharesDevicesAndTheirParts) {
  const auto list = runtime::ListDevices();
  if (list[0].cores < 2) GTEST_SKIP() << "no device that can be parted";
  const auto whole = runtime::SelectListedDevice(0, {}, "");
  ASSERT_OK(whole);
  EXPECT_EQ(*whole, *runtime::SelectDevices("opencl:0"));
  EXPECT_EQ(*whole, *runtime::SelectListedDevice(0, {0, list[0].cores}, ""));
  const auto core = runtime::SelectListedDevice(0, {1, 1}, "");
  ASSERT_OK(core);
  EXPECT_EQ(*core, *runtime::SelectListedDevice(0, {1, 1}, ""));
  EXPECT_NE(*core, *whole);
  EXPECT_NE(*core, *runtime::SelectListedDevice(0, {0, 1}, ""));
}

TEST(SelectListedDevice, EnvironmentWins) {
  const auto host = runtime::SelectListedDevice(0, {}, "host");
  ASSERT_OK(host);
  EXPECT_EQ(host->size(), 1u);
  EXPECT_OK(runtime::SelectListedDevice(4096, {}, "host"));
  EXPECT_ERROR(runtime::SelectListedDevice(0, {}, "opencl:4096"),
               "TIMCL_DEVICE=opencl:4096");
  EXPECT_ERROR(runtime::SelectListedDevice(0, {}, "bogus"),
               "expected host, opencl");
  if (HostNumber() == 0) return;
  const auto opencl = runtime::SelectListedDevice(HostNumber(), {}, "opencl:0");
  ASSERT_OK(opencl);
  EXPECT_EQ(*opencl, *runtime::SelectDevices("opencl:0"));
  if (runtime::ListDevices()[0].cores < 2) return;
  // The device that it names has cores to choose from.
  const auto core = runtime::SelectListedDevice(0, {0, 1}, "opencl:0");
  ASSERT_OK(core);
  EXPECT_EQ((*core)[1]->info().compute_units, 1);
}

TEST(DeviceId, ChoosesTheGraphsDevice) {
  const auto context = DefaultContext();
  if (context == nullptr) GTEST_SKIP() << "TIMCL_DEVICE is set";
  for (uint32_t number = 0; number <= HostNumber(); ++number) {
    ReluGraph g({3}, context->CreateGraph(OnDevice(number)));
    Write<float>(g.input, {1, -2, 3});
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(g.output), (Values{1, 0, 3}));
    EXPECT_EQ(RunsBesideTheHost(*g.graph), number != HostNumber());
  }
}

TEST(DeviceId, ThatIsNotThereFailsCompile) {
  const auto context = DefaultContext();
  if (context == nullptr) GTEST_SKIP() << "TIMCL_DEVICE is set";
  const ReluGraph g({3}, context->CreateGraph(OnDevice(HostNumber() + 1)));
  EXPECT_TRUE(CompileFailsWith(*g.graph,
                               "CompileOption::setDeviceId(): device " +
                                   std::to_string(HostNumber() + 1) +
                                   " does not exist; there are " +
                                   std::to_string(HostNumber() + 1) + ": 0 '"));
  EXPECT_THAT(vx::LastError(), HasSubstr("'host'"));
  EXPECT_FALSE(g.graph->Run());
}

TEST(DeviceId, AnotherOneCompilesAgain) {
  const auto context = DefaultContext();
  if (context == nullptr || HostNumber() == 0) GTEST_SKIP() << "one device";
  ReluGraph g({3}, context->CreateGraph(OnDevice(0)));
  Write<float>(g.input, {1, -2, 3});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_TRUE(RunsBesideTheHost(*g.graph));
  g.graph->SetCompileOption(OnDevice(HostNumber()));
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_FALSE(RunsBesideTheHost(*g.graph));
  EXPECT_EQ(Read(g.output), (Values{1, 0, 3}));
}

TEST(DeviceId, HasNoEffectWhereTheContextsDevicesAreGiven) {
  const auto devices = runtime::SelectDevices("host");
  ASSERT_OK(devices);
  const ReluGraph g({3},
                    vx::CreateContext(*devices)->CreateGraph(OnDevice(77)));
  EXPECT_TRUE(g.graph->Compile()) << vx::LastError();
}

TEST(DeviceId, EnvironmentWins) {
  if (!IsChild()) {
    const ChildResult child = RunAsChild({{"TIMCL_DEVICE", "host"}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
    return;
  }
  const auto context = vx::Context::Create();
  ASSERT_NE(context, nullptr) << vx::LastError();
  for (const uint32_t number : {0u, 1u, 4096u}) {
    ReluGraph g({3}, context->CreateGraph(OnDevice(number)));
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_FALSE(RunsBesideTheHost(*g.graph));
  }
}

}  // namespace
}  // namespace tim::testing
