// Streams, events and pools of plug-ins' devices.  Check 13 of the
// specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "device/device_pools.h"
#include "device/device_sources.h"
#include "plugin/host_table.h"
#include "plugin/plugin_device.h"
#include "plugin/plugins.h"
#include "tests/plugin_abi/native_plugin.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::CountSteps;
using testing::Floats;
using testing::NativeOptions;
using testing::PlugGraph;

PlugGraph ChainOfRelus() {
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({4, 3});
  const ir::ValueId a = graph.Op("tim.Relu", {x});
  const ir::ValueId b = graph.Op("tim.Neg", {a});
  graph.Output(graph.Op("tim.Relu", {b}));
  graph.Output(a);
  return graph;
}

// Devices with streams of their own, of every shape.
TEST(NativeStreams, RunGraphs) {
  const NativeOptions all[] = {
      {},
      {.thread_safe = false},
      {.thread_safe = false, .query = false},
      {.query = false, .stream_wait = false, .delay_us = 300},
      {.delay_us = 300}};
  for (const NativeOptions& options : all) {
    ASSERT_OK(
        LoadPluginTable(testing::NativePlugin(options), {},
                        {.watch = {.timeout = std::chrono::seconds(20)}}));
    {
      const auto devices = testing::HostAnd("native", 1);
      ASSERT_OK(devices);
      const PlugGraph graph = ChainOfRelus();
      auto ready = testing::Ready(graph, *devices);
      ASSERT_OK(ready);
      EXPECT_GE(CountSteps<ir::DeviceCall>(ready->executable->plan()), 1);
      for (uint32_t seed = 1; seed <= 20; ++seed) {
        const std::vector<Floats> inputs = {testing::SomeFloats(12, seed)};
        const auto results = testing::Run(*ready, inputs);
        ASSERT_OK(results);
        testing::ExpectClose(*results, testing::Expected(graph, inputs));
      }
    }
    EXPECT_OK(UnloadPlugin("native"));
  }
}

// Two devices of one domain wait for each other, and copy through the host.
TEST(NativeStreams, OfOneDomainWaitForEachOther) {
  ASSERT_OK(LoadPluginTable(testing::NativePlugin({}), {}, {}));
  {
    const auto source = device::FindDeviceSource("native");
    ASSERT_TRUE(source.has_value());
    const auto one = source->open(0);
    const auto other = source->open(1);
    ASSERT_OK(one);
    ASSERT_OK(other);
    EXPECT_EQ((*one)->domain(), (*other)->domain());
    EXPECT_TRUE((*one)->CanCopyFrom(**other));
    EXPECT_EQ(*source->open(0), *one);  // while it is open, the same
    EXPECT_ERROR(source->open(2), "device native:2: there are 2");
    const auto a = (*one)->CreateStream();
    const auto b = (*other)->CreateStream();
    ASSERT_OK(a);
    ASSERT_OK(b);
    const auto event = (*a)->Record();
    ASSERT_OK(event);
    EXPECT_OK((*b)->WaitFor(**event));
    const auto end = (*b)->Record();
    ASSERT_OK(end);
    EXPECT_OK((*end)->Wait());
    EXPECT_TRUE((*event)->Ready());
  }
  EXPECT_OK(UnloadPlugin("native"));
}

// Memory that a plug-in takes of the pool goes back to it.
TEST(NativeStreams, PluginsUseThePool) {
  ASSERT_OK(LoadPluginTable(testing::NativePlugin({}), {}, {}));
  {
    auto opened = device::FindDeviceSource("native")->open(0);
    ASSERT_OK(opened);
    auto& device = dynamic_cast<PluginDevice&>(**opened);
    device::PoolAllocator& pool = device.pools().Of(ir::MemoryKind::kDevice);
    MessageRoom room;
    TimRange range{};
    ASSERT_EQ(Host().pool_allocate(device.handle(), 1000, &range, room.get()),
              TIM_OK);
    EXPECT_EQ(range.bytes, 1000u);
    EXPECT_NE(range.buffer, nullptr);
    EXPECT_GE(pool.stats().in_use, 1000);
    Host().pool_release(device.handle(), &range, nullptr);
    EXPECT_EQ(pool.stats().in_use, 0);
    EXPECT_EQ(Host().pool_allocate(device.handle(), uint64_t{1} << 60, &range,
                                   room.get()),
              TIM_OUT_OF_MEMORY);
    EXPECT_THAT(room.Text(), ::testing::HasSubstr("a workspace of"));
    EXPECT_EQ(Host().pool_allocate(nullptr, 1, &range, room.get()),
              TIM_INVALID_ARGUMENT);
  }
  EXPECT_OK(UnloadPlugin("native"));
}

// A device without streams does not hold the caller.
TEST(SingleStream, EnqueueDoesNotWait) {
  ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_bad.so"),
                       {{"mode", "slow"}}, {}));
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    device::Device& device = *(*devices)[1];
    int64_t elements = 4;
    const ir::Action action = ir::DeviceCall{
        .name = "relu",
        .payload = std::string(reinterpret_cast<const char*>(&elements), 8)};
    const ir::Action* step = &action;
    testing::EmptyStore store;
    const auto prepared = device.Prepare({&step, 1}, ir::OpRegistry(), store);
    ASSERT_OK(prepared);
    const auto buffer = device.Allocate(256, ir::MemoryKind::kDevice);
    ASSERT_OK(buffer);
    const auto stream = device.CreateStream();
    ASSERT_OK(stream);
    const device::BufferRange operands[] = {{buffer->get(), 0, 16},
                                            {buffer->get(), 128, 16}};
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) {
      ASSERT_OK((*stream)->Enqueue(*(*prepared)[0], operands));
    }
    const auto event = (*stream)->Record();
    ASSERT_OK(event);
    const auto enqueued = std::chrono::steady_clock::now() - begin;
    EXPECT_FALSE((*event)->Ready());
    EXPECT_OK((*event)->Wait());
    const auto done = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(enqueued, std::chrono::milliseconds(20));
    EXPECT_GE(done, std::chrono::milliseconds(100));
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

// A graph over three devices, one of which takes its time: always the same.
TEST(SingleStream, DelaysChangeNoResult) {
  ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_bad.so"),
                       {{"mode", "delays"}}, {}));
  ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_demo.so"), {}, {}));
  {
    auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    auto demo = device::FindDeviceSource("demo")->open(0);
    ASSERT_OK(demo);
    devices->push_back(*demo);
    PlugGraph graph(testing::Known());
    const ir::ValueId x = graph.Input({64});
    const ir::ValueId left = graph.Op("tim.Relu", {x});
    const ir::ValueId right = graph.Op("tim.Tanh", {x});
    graph.Output(graph.Op("tim.Add", {left, right}));
    for (const ir::NodeId id : graph.graph().NodeIds()) {
      ir::Node& node = graph.graph().node(id);
      node.device = node.schema->name == "Relu"   ? 1
                    : node.schema->name == "Tanh" ? 0
                                                  : 2;
    }
    auto ready = testing::Ready(graph, *devices);
    ASSERT_OK(ready);
    EXPECT_EQ(CountSteps<ir::DeviceCall>(ready->executable->plan()), 2);
    EXPECT_EQ(CountSteps<ir::HostCall>(ready->executable->plan()), 1);
    PlugGraph free = graph;
    for (const ir::NodeId id : free.graph().NodeIds()) {
      free.graph().node(id).device = -1;
    }
    const std::vector<Floats> inputs = {testing::SomeFloats(64)};
    const Floats expected = testing::Expected(free, inputs);
    for (int i = 0; i < 200; ++i) {
      const auto results = testing::Run(*ready, inputs);
      ASSERT_OK(results);
      testing::ExpectClose(*results, expected);
    }
  }
  EXPECT_OK(UnloadPlugin("bad"));
  EXPECT_OK(UnloadPlugin("demo"));
}

}  // namespace
}  // namespace tim::plugin
