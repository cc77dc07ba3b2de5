// Check 8 of the specification: a plug-in's kernels for OpenCL devices, given
// as text.  Checks 7 and 24 with an OpenCL device beside the plug-in's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device_sources.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "plugin/plugins.h"
#include "runtime/cache/program_cache.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/child_process.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::CountSteps;
using testing::Floats;
using ::testing::HasSubstr;
using testing::PlugGraph;

const TimHost* g_host = nullptr;
const char* g_text = "";
double g_cost_us = 0;

constexpr char kText[] = R"(
__kernel void text_relu(__global const float* x, int x_offset,
                        __global float* y, int y_offset, int count,
                        float least) {
  const int i = get_global_id(0);
  if (i < count) y[y_offset + i] = fmax(x[x_offset + i], least);
}
)";
constexpr double kCheap = 0.001;
constexpr double kDear = 1e7;
// Its fourth line is wrong.
constexpr char kBrokenText[] = R"(
__kernel void text_relu(__global const float* x, int x_offset,
                        __global float* y, int y_offset, int count,
                        float least) { y[0] = x[0] + nothing_of_this_name; }
)";

TimCode Lower(void*, const TimNode* node, const TimDeviceProps*,
              TimLowering* lowering, TimMessage*) {
  uint32_t operands[2] = {0, 0};
  static_cast<void>(g_host->sinks->input_operand(lowering, 0, &operands[0]));
  static_cast<void>(g_host->sinks->output_operand(lowering, 0, &operands[1]));
  const TimTensorDesc* const out = g_host->views->output(node, 0);
  int32_t count = 1;
  for (int32_t i = 0; i < out->rank; ++i) {
    count *= static_cast<int32_t>(out->dims[i]);
  }
  const float least = 0;
  const int32_t bytes[2] = {4, 4};
  const uint8_t written[2] = {0, 1};
  TimOpenClStep step{};
  step.struct_size = TIM_SIZE_THROUGH(TimOpenClStep, local_bytes);
  step.dimensions = 1;
  step.text = g_text;
  step.function = "text_relu";
  step.global[0] = static_cast<uint64_t>(count);
  step.operands = operands;
  step.element_bytes = bytes;
  step.operand_count = 2;
  step.int_count = 1;
  step.ints = &count;
  step.float_count = 1;
  step.floats = &least;
  return g_host->sinks->add_opencl_step(lowering, &step, written);
}

const TimKernel* KernelAt(uint32_t) {
  static TimKernel kernel;
  kernel.struct_size = TIM_SIZE_THROUGH(TimKernel, lower);
  kernel.name = "text.relu";
  kernel.op = "tim.Relu";
  kernel.device_kind = "opencl";
  kernel.supports = [](void*, const TimNode* node, const TimDeviceProps*,
                       TimMessage* reason) -> TimCode {
    if (g_host->views->epilogue_count(node) == 0) return TIM_OK;
    std::snprintf(reason->text, reason->capacity, "it fuses nothing");
    return TIM_UNIMPLEMENTED;
  };
  kernel.cost = [](void*, const TimNode*, const TimDeviceProps*, double* us,
                   TimMessage*) -> TimCode {
    *us = g_cost_us;
    return TIM_OK;
  };
  kernel.lower = Lower;
  return &kernel;
}

const TimPlugin* TextPlugin(const char* text, double cost_us = kCheap) {
  static TimKernelFns kernels;
  static TimPlugin plugin;
  g_text = text;
  g_cost_us = cost_us;
  kernels.struct_size = TIM_SIZE_THROUGH(TimKernelFns, enqueue);
  kernels.count = []() -> uint32_t { return 1; };
  kernels.kernel = KernelAt;
  plugin.struct_size = TIM_SIZE_THROUGH(TimPlugin, ops);
  plugin.abi_major = TIM_ABI_MAJOR;
  plugin.kind = "text";
  plugin.vendor = "tests";
  plugin.version = "1";
  plugin.initialize = [](const TimHost* host, const TimOption*, uint32_t,
                         TimMessage*) -> TimCode {
    g_host = host;
    return TIM_OK;
  };
  plugin.shutdown = [] {};
  plugin.kernels = &kernels;
  return &plugin;
}

class OpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::CountOpenClDevices() == 0) {
      GTEST_SKIP() << "there is no OpenCL device";
    }
    auto device = device::CreateOpenClDevice(0, {});
    ASSERT_OK(device);
    devices_ = {device::CreateHostDevice(), *std::move(device)};
  }

  device::Devices devices_;
};

PlugGraph ReluGraph() {
  PlugGraph graph(testing::Known());
  graph.Output(graph.Op("tim.Relu", {graph.Input({40})}));
  return graph;
}

TEST_F(OpenCl, DoesNoStepsOfOtherDevices) {
  testing::EmptyStore store;
  for (const ir::Action& action :
       {ir::Action(ir::DeviceCall{.name = "acme.scale", .payload = ""}),
        ir::Action(ir::GraphCall{
            .part = nullptr, .name = "part.acme.0", .options = {}})}) {
    const ir::Action* step = &action;
    EXPECT_ERROR(devices_[1]->Prepare({&step, 1}, ir::OpRegistry(), store),
                 "' on an OpenCL device");
  }
}

// Kernels of the plan's launches, in their order.
std::vector<std::string> LaunchesOf(const ir::Plan& plan, int device) {
  std::vector<std::string> kernels;
  for (const ir::Step& step : plan.steps) {
    if (step.device != device) continue;
    if (!std::holds_alternative<ir::KernelLaunch>(step.action)) continue;
    kernels.push_back(step.kernel);
  }
  return kernels;
}

TEST_F(OpenCl, AKernelGivenAsTextIsTakenWhereItIsCheaper) {
  for (const auto& [cost_us, taken] :
       {std::pair(kCheap, true), std::pair(kDear, false)}) {
    ASSERT_OK(LoadPluginTable(TextPlugin(kText, cost_us), {}, {}));
    const PlugGraph graph = ReluGraph();
    const auto store = runtime::ProgramCache::Create({});
    auto ready = testing::Ready(graph, devices_, /*strict=*/true, store);
    ASSERT_OK(ready);
    EXPECT_EQ(store->builds(), 1);
    EXPECT_EQ(LaunchesOf(ready->executable->plan(), 1) ==
                  std::vector<std::string>{"text.relu"},
              taken);
    ASSERT_OK(testing::Ready(graph, devices_, /*strict=*/true, store));
    EXPECT_EQ(store->builds(), 1);
    const std::vector<Floats> inputs = {testing::SomeFloats(40)};
    const auto results = testing::Run(*ready, inputs);
    ASSERT_OK(results);
    testing::ExpectClose(*results, testing::Expected(graph, inputs));
    EXPECT_OK(UnloadPlugin("text"));
  }
}

TEST_F(OpenCl, AKernelGivenAsTextIsBuiltAndRun) {
  ASSERT_OK(LoadPluginTable(TextPlugin(kText), {}, {}));
  const PlugGraph graph = ReluGraph();
  const auto store = std::make_shared<testing::MapStore>();
  auto ready = testing::Ready(graph, devices_, /*strict=*/true, store);
  ASSERT_OK(ready);
  EXPECT_EQ(store->builds, 1);
  ASSERT_OK(testing::Ready(graph, devices_, /*strict=*/true, store));
  EXPECT_EQ(store->builds, 1);
  const ir::Plan& plan = ready->executable->plan();
  ASSERT_EQ(CountSteps<ir::KernelLaunch>(plan), 1);
  for (const ir::Step& step : plan.steps) {
    if (!std::holds_alternative<ir::KernelLaunch>(step.action)) continue;
    EXPECT_EQ(step.kernel, "text.relu");
  }
  const std::vector<Floats> inputs = {testing::SomeFloats(40)};
  const auto results = testing::Run(*ready, inputs);
  ASSERT_OK(results);
  testing::ExpectClose(*results, testing::Expected(graph, inputs));
  EXPECT_OK(UnloadPlugin("text"));  // it has no devices that could be in use
}

TEST_F(OpenCl, ATextThatCannotBeBuiltIsReplaced) {
  if (!testing::IsChild()) {
    // The log has the compiler's own words, with lines and columns.
    const auto child = testing::RunAsChild({{"TIMCL_LOG", "warning"}});
    EXPECT_EQ(child.exit_status, 0);
    EXPECT_THAT(child.output, HasSubstr("plug-in text, kernel text.relu"));
    EXPECT_THAT(child.output, ::testing::ContainsRegex(
                                  "plug-in text, kernel text.relu:4:[0-9]+: "
                                  ".*nothing_of_this_name"));
    return;
  }
  ASSERT_OK(LoadPluginTable(TextPlugin(kBrokenText), {}, {}));
  const PlugGraph graph = ReluGraph();
  auto ready = testing::Ready(graph, devices_, /*strict=*/true);
  ASSERT_OK(ready);
  std::string refused;
  for (const ir::Decision& one : ready->executable->plan().decisions) {
    for (const std::string& reason : one.refused) refused += reason + "\n";
  }
  EXPECT_THAT(refused, HasSubstr("plug-in text, kernel text.relu"));
  const std::vector<Floats> inputs = {testing::SomeFloats(40)};
  const auto results = testing::Run(*ready, inputs);
  ASSERT_OK(results);
  testing::ExpectClose(*results, testing::Expected(graph, inputs));
  EXPECT_OK(UnloadPlugin("text"));
}

TEST_F(OpenCl, ABlockIsDividedBetweenAPluginAndOpenCl) {
  ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_demo.so"), {}, {}));
  {
    auto demo = device::FindDeviceSource("demo")->open(0);
    ASSERT_OK(demo);
    const device::Devices devices = {devices_[0], *demo, devices_[1]};
    PlugGraph graph = testing::ResNetBlock(testing::Known());
    // Convolutions on the plug-in's device, the rest on OpenCL's.
    for (const ir::NodeId id : graph.graph().NodeIds()) {
      ir::Node& node = graph.graph().node(id);
      node.device = node.schema->name == "Conv2d" ? 1 : 2;
    }
    auto ready = testing::Ready(graph, devices, /*strict=*/true);
    ASSERT_OK(ready);
    const ir::Plan& plan = ready->executable->plan();
    EXPECT_EQ(CountSteps<ir::DeviceCall>(plan), 2);
    EXPECT_GE(CountSteps<ir::KernelLaunch>(plan), 2);
    const PlugGraph free = testing::ResNetBlock(testing::Known());
    for (const uint32_t seed : {1u, 2u}) {
      const std::vector<Floats> inputs = {
          testing::SomeFloats(9 * 7 * 4 * 2, seed)};
      const auto results = testing::Run(*ready, inputs);
      ASSERT_OK(results);
      testing::ExpectClose(*results, testing::Expected(free, inputs));
    }
  }
  EXPECT_OK(UnloadPlugin("demo"));
}

// Check 24: Conv2d and Relu are one kernel on a device that has the fusion, and
// two on one that lacks it, in one graph.  Each branch begins on a device of
// its own, which it has no reason to leave.
TEST_F(OpenCl, EachDeviceFusesWhatItCan) {
  ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_demo.so"), {}, {}));
  {
    auto demo = device::FindDeviceSource("demo")->open(0);
    ASSERT_OK(demo);
    const device::Devices devices = {devices_[0], devices_[1], *demo};
    PlugGraph graph(testing::Known());
    PlugGraph free(testing::Known());
    for (PlugGraph* made : {&graph, &free}) {
      for (const int device : {1, 2}) {
        const ir::ValueId head =
            made->Op("tim.Relu", {made->Input({9, 7, 4, 1})});
        if (made == &graph) {
          made->graph().node(made->graph().NodeIds().back()).device = device;
        }
        const ir::ValueId convolved =
            made->Op("tim.Conv2d",
                     {head, made->Constant({3, 3, 4, 4}), made->Constant({4})});
        made->Output(made->Op("tim.Relu", {convolved}));
      }
    }
    compiler::LinkTable links(devices.size());
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) links.Set(a, b, {.latency_us = 1e6});
    }
    auto ready =
        testing::Ready(graph, devices, /*strict=*/true, nullptr, links);
    ASSERT_OK(ready);
    const ir::Plan& plan = ready->executable->plan();
    std::map<int, std::vector<std::string>> kernels;
    for (const ir::PartitionNode& node : plan.notes.partition.nodes) {
      const auto part = static_cast<size_t>(node.part);
      kernels[plan.notes.partition.parts[part].device].push_back(node.kernel);
    }
    EXPECT_EQ(kernels[1].size(), 2u) << ir::Dump(plan);
    EXPECT_EQ(kernels[2].size(), 3u) << ir::Dump(plan);
    EXPECT_EQ(CountSteps<ir::DeviceCall>(plan), 3);
    const auto launches = LaunchesOf(plan, 1);
    EXPECT_EQ(std::count_if(launches.begin(), launches.end(),
                            [](const std::string& kernel) {
                              return kernel.find("reorder") ==
                                     std::string::npos;
                            }),
              2)
        << ir::Dump(plan);
    const std::vector<Floats> inputs = {testing::SomeFloats(9 * 7 * 4, 1),
                                        testing::SomeFloats(9 * 7 * 4, 2)};
    const auto results = testing::Run(*ready, inputs);
    ASSERT_OK(results);
    testing::ExpectClose(*results, testing::Expected(free, inputs));
  }
  EXPECT_OK(UnloadPlugin("demo"));
}

}  // namespace
}  // namespace tim::plugin
