// Streams, events and pools of plug-ins' devices.  Check 13 of the
// specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "device/device_pools.h"
#include "device/device_sources.h"
#include "plugin/host_table.h"
#include "plugin/plugin_device.h"
#include "plugin/plugins.h"
#include "runtime/transfer.h"
#include "tests/plugin_abi/native_plugin.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/devices/fake_device.h"
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
      {.fill = true, .on_done = true, .delay_us = 300},
      {.thread_safe = false, .on_done = true, .delay_us = 300},
      {.thread_safe = false, .query = false, .on_done = true},
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

// Opens native:0 of a plug-in with these options, runs `body`, and unloads it.
template <typename Body>
void WithNative(const NativeOptions& options, std::chrono::seconds timeout,
                const Body& body) {
  ASSERT_OK(LoadPluginTable(testing::NativePlugin(options), {},
                            {.watch = {.timeout = timeout}}));
  {
    const auto opened = device::FindDeviceSource("native")->open(0);
    ASSERT_OK(opened);
    body(**opened);
  }
  EXPECT_OK(UnloadPlugin("native"));
}

// Memory that begins with zeros is filled where the device has a way.
TEST(NativeStreams, FillMemoryWithZeros) {
  for (const std::string kind : {"fills", "offers nothing", "fill_not"}) {
    SCOPED_TRACE(kind);
    const bool fill = kind == "fills";
    const NativeOptions options = {.fill = kind != "offers nothing",
                                   .mistake = kind == "fill_not" ? kind : ""};
    WithNative(options, {}, [&](device::Device& device) {
      const auto buffer = device.Allocate(3000, ir::MemoryKind::kDevice);
      const auto stream = device.CreateStream();
      ASSERT_OK(buffer);
      ASSERT_OK(stream);
      const std::string ones(3000, '\1');
      std::string found(3000, '\2');
      ASSERT_OK(runtime::Upload(**stream, ones.data(), 3000, **buffer));
      testing::NativeCalls& calls = testing::CallsOfNative();
      const int copies = calls.copies_in;
      const int fills = calls.fills;
      EXPECT_OK(runtime::FillZero(**stream, **buffer));
      EXPECT_EQ(calls.copies_in - copies, fill ? 0 : 1);
      EXPECT_EQ(calls.fills - fills, options.fill ? 1 : 0);
      ASSERT_OK(runtime::Download(**stream, **buffer, found.data(), 3000));
      EXPECT_EQ(found, std::string(3000, '\0'));
    });
  }
}

// Slices of scans begin anywhere; the device's pieces do not.
TEST(NativeStreams, CopyPiecesThatBeginAnywhere) {
  WithNative({}, {}, [](device::Device& device) {
    const auto buffer = device.Allocate(512, ir::MemoryKind::kDevice);
    const auto stream = device.CreateStream();
    ASSERT_OK(buffer);
    ASSERT_OK(stream);
    std::string bytes;
    for (int i = 0; i < 512; ++i) bytes += static_cast<char>(i % 251);
    ASSERT_OK(runtime::Upload(**stream, bytes.data(), 512, **buffer));
    for (const auto& [from, to] : {std::pair(5, 262), {64, 301}, {9, 448}}) {
      ASSERT_OK(
          (*stream)->Copy({buffer->get(), from, 50}, {buffer->get(), to, 50}));
      bytes.replace(static_cast<size_t>(to), 50, bytes, from, 50);
    }
    std::string found(512, '\0');
    ASSERT_OK(runtime::Download(**stream, **buffer, found.data(), 512));
    EXPECT_EQ(found, bytes);
    EXPECT_EQ(testing::CallsOfNative().unaligned, 0);
  });
}

// An event, and the memory that work before it fills.
struct PendingEvent {
  std::unique_ptr<device::Buffer> buffer;
  std::unique_ptr<device::Event> event;
};

// An event of the stream that is reached once work is done that takes as long
// as the device's steps.  The device has fill().
PendingEvent SomeEvent(device::Device& device, device::Stream& stream) {
  PendingEvent pending;
  auto buffer = device.Allocate(1 << 10, ir::MemoryKind::kDevice);
  EXPECT_OK(buffer);
  if (!buffer.ok()) return pending;
  pending.buffer = *std::move(buffer);
  const auto filled = stream.Fill({pending.buffer.get(), 0, 1 << 10}, 0);
  EXPECT_OK(filled);
  auto event = stream.Record();
  EXPECT_OK(event);
  if (event.ok()) pending.event = *std::move(event);
  return pending;
}

// No question is asked, and the wait has a limit, where the device calls.
TEST(NativeStreams, WaitForTheDevicesCall) {
  for (const bool thread_safe : {true, false}) {
    WithNative({.thread_safe = thread_safe,
                .fill = true,
                .on_done = true,
                .delay_us = 20'000},
               std::chrono::seconds(20), [&](device::Device& device) {
                 const auto stream = device.CreateStream();
                 ASSERT_OK(stream);
                 testing::NativeCalls& calls = testing::CallsOfNative();
                 const int queries = calls.queries;
                 const PendingEvent pending = SomeEvent(device, **stream);
                 const auto& event = pending.event;
                 ASSERT_NE(event, nullptr);
                 const int asked = calls.on_done;
                 EXPECT_OK(event->Wait());
                 EXPECT_OK(event->Wait());
                 EXPECT_TRUE(event->Ready());
                 EXPECT_EQ(calls.on_done, asked + 1);
                 EXPECT_EQ(calls.queries, queries);
               });
  }
}

// Where it cannot be asked its call tells that an event is reached, and comes
// once the event is there no more.
TEST(NativeStreams, AreReadyOnceTheDeviceHasCalled) {
  WithNative({.query = false, .fill = true, .on_done = true, .delay_us = 500},
             {}, [&](device::Device& device) {
               const auto stream = device.CreateStream();
               ASSERT_OK(stream);
               PendingEvent pending = SomeEvent(device, **stream);
               auto& event = pending.event;
               ASSERT_NE(event, nullptr);
               while (!event->Ready()) std::this_thread::yield();
               EXPECT_OK(event->Wait());
               for (int i = 0; i < 100; ++i) {
                 auto again = (*stream)->Record(std::move(event));
                 ASSERT_OK(again);
                 event = *std::move(again);
                 static_cast<void>(event->Ready());
               }
               EXPECT_OK(event->Wait());
               EXPECT_EQ(Plugins().front().error, "");
             });
}

TEST(NativeStreams, WhoseCallNeverComesAreLost) {
  WithNative({.query = false, .on_done = true, .mistake = "done_never"},
             std::chrono::seconds(1), [](device::Device& device) {
               const auto stream = device.CreateStream();
               ASSERT_OK(stream);
               const auto event = (*stream)->Record();
               ASSERT_OK(event);
               EXPECT_ERROR((*event)->Wait(),
                            "did not end its work within the 1 seconds");
             });
}

TEST(NativeStreams, WhoseCallIsWrongAreQuarantined) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"done_twice", "TimDeviceFns::on_done(): done() was called twice"},
      {"done_code", "TimDeviceFns::on_done(): done() gave the code 77"},
  };
  for (const auto& [mistake, words] : mistakes) {
    SCOPED_TRACE(mistake);
    WithNative({.thread_safe = false, .on_done = true, .mistake = mistake}, {},
               [&, words = words](device::Device& device) {
                 const auto stream = device.CreateStream();
                 ASSERT_OK(stream);
                 const auto event = (*stream)->Record();
                 ASSERT_OK(event);
                 EXPECT_OK((*event)->Wait());
                 // The second call may still be on its way.
                 const auto facts = [] { return Plugins().front().error; };
                 for (int i = 0; i < 2000 && facts().empty(); ++i) {
                   std::this_thread::sleep_for(std::chrono::milliseconds(1));
                 }
                 EXPECT_THAT(facts(), ::testing::HasSubstr(words));
               });
  }
}

// A device that refuses to call is asked by query(), or held by wait().
TEST(NativeStreams, WaitWhereTheCallIsRefused) {
  for (const std::string mistake : {"done_fails", "done_not"}) {
    for (const bool thread_safe : {true, false}) {
      for (const bool query : {true, false}) {
        SCOPED_TRACE(mistake);
        const NativeOptions options = {.thread_safe = thread_safe,
                                       .query = query,
                                       .fill = true,
                                       .on_done = true,
                                       .delay_us = 500,
                                       .mistake = mistake};
        WithNative(options, std::chrono::seconds(20), [&](auto& device) {
          const auto stream = device.CreateStream();
          ASSERT_OK(stream);
          testing::NativeCalls& calls = testing::CallsOfNative();
          PendingEvent pending = SomeEvent(device, **stream);
          auto& event = pending.event;
          ASSERT_NE(event, nullptr);
          for (int i = 0; i < 3; ++i) {
            const int asked = calls.on_done;
            const int queries = calls.queries;
            static_cast<void>(event->Ready());
            static_cast<void>(event->Ready());
            EXPECT_EQ(calls.on_done, asked + (query ? 0 : 1));
            EXPECT_OK(event->Wait());
            EXPECT_TRUE(event->Ready());
            EXPECT_EQ(calls.on_done, asked + 1);
            EXPECT_EQ(calls.queries > queries, query);
            auto again = (*stream)->Record(std::move(event));
            ASSERT_OK(again);
            event = *std::move(again);
          }
          EXPECT_OK(event->Wait());
          EXPECT_EQ(Plugins().front().error, "");
        });
      }
    }
  }
}

TEST(NativeStreams, AreLostWhereTheCallIsLost) {
  WithNative({.thread_safe = false, .on_done = true, .mistake = "done_lost"},
             {}, [](device::Device& device) {
               const auto stream = device.CreateStream();
               ASSERT_OK(stream);
               const auto event = (*stream)->Record();
               ASSERT_OK(event);
               const Status waited = (*event)->Wait();
               EXPECT_EQ(waited.code(), StatusCode::kDeviceLost);
               EXPECT_ERROR(waited, "no interrupts left");
             });
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

// Check 13 of the specification: a device without streams does not hold the
// caller, while a step of its takes 20 ms.
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
    using Clock = std::chrono::steady_clock;
    // A try is spoilt where something else had the processor.
    Clock::duration longest = Clock::duration::max();
    for (int tries = 0; tries < 10 && longest > std::chrono::milliseconds(1);
         ++tries) {
      longest = {};
      const auto begin = Clock::now();
      for (int i = 0; i < 5; ++i) {
        const auto called = Clock::now();
        ASSERT_OK((*stream)->Enqueue(*(*prepared)[0], operands));
        longest = std::max(longest, Clock::now() - called);
      }
      const auto event = (*stream)->Record();
      ASSERT_OK(event);
      EXPECT_FALSE((*event)->Ready());
      EXPECT_OK((*event)->Wait());
      EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(100));
    }
    EXPECT_LE(longest, std::chrono::milliseconds(1));
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

// Check 13: a fork over a plug-in that takes its time, 1 to 300 us, and the
// host, joined on a fake device that does, too: always the same.
TEST(SingleStream, DelaysChangeNoResult) {
  ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_bad.so"),
                       {{"mode", "delays"}}, {}));
  {
    auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    const auto fake = std::make_shared<testing::FakeDevice>(
        testing::FakeOptions{.seed = 13, .max_delay_us = 300});
    devices->push_back(fake);
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
    const ir::Plan& plan = ready->executable->plan();
    EXPECT_EQ(CountSteps<ir::DeviceCall>(plan), 1);
    EXPECT_EQ(CountSteps<ir::HostCall>(plan), 2);
    for (const int device : {0, 1, 2}) {
      EXPECT_TRUE(std::any_of(
          plan.steps.begin(), plan.steps.end(),
          [&](const ir::Step& step) { return step.device == device; }))
          << device;
    }
    PlugGraph free = graph;
    for (const ir::NodeId id : free.graph().NodeIds()) {
      free.graph().node(id).device = -1;
    }
    const std::vector<Floats> inputs = {testing::SomeFloats(64)};
    const Floats expected = testing::Expected(free, inputs);
    for (int i = 0; i < 200; ++i) {
      const auto results = testing::Run(*ready, inputs);
      ASSERT_OK(results);
      ASSERT_EQ(*results, expected) << "run " << i;
    }
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

}  // namespace
}  // namespace tim::plugin
