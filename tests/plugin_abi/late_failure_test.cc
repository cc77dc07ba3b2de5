// Failures of work that a plug-in's device tells of later.
#include <gtest/gtest.h>

#include "device/device_sources.h"
#include "plugin/plugins.h"
#include "tests/plugin_abi/native_plugin.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::Floats;
using testing::PlugGraph;

// The event that tells it is one that only the other device waits for.
TEST(LateFailure, FailsTheRunWhereAnotherDeviceGoesOn) {
  ASSERT_OK(LoadPluginTable(
      testing::NativePlugin({.mistake = "first_step_fails"}), {}, {}));
  {
    auto devices = testing::HostAnd("native", 0);
    ASSERT_OK(devices);
    const auto other = device::FindDeviceSource("native")->open(1);
    ASSERT_OK(other);
    devices->push_back(*other);
    PlugGraph graph(testing::Known());
    const ir::ValueId x = graph.Input({16});
    graph.Output(graph.Op("tim.Relu", {graph.Op("tim.Relu", {x})}));
    int device = 0;
    for (const ir::NodeId id : graph.graph().NodeIds()) {
      graph.graph().node(id).device = ++device;
    }
    auto ready = testing::Ready(graph, *devices);
    ASSERT_OK(ready);
    const std::vector<Floats> inputs = {testing::SomeFloats(16)};
    EXPECT_ERROR(testing::Run(*ready, inputs).status(), "the step overheated");
    EXPECT_EQ(testing::CallsOfNative().steps, 2);
    EXPECT_OK(testing::Run(*ready, inputs));
  }
  EXPECT_OK(UnloadPlugin("native"));
}

}  // namespace
}  // namespace tim::plugin
