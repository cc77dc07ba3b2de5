// Functions of the library that plug-ins call, and check 5 of the
// specification: whatever a plug-in does against its contract is
// a clear error, the process lives, and the next Compile goes on without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "plugin/host_table.h"
#include "plugin/plugin_programs.h"
#include "plugin/plugins.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::CountSteps;
using testing::Floats;
using ::testing::HasSubstr;
using testing::PlugGraph;

Status LoadBad(const std::string& mode, const PluginOptions& watch = {}) {
  return LoadPlugin(testing::LibraryPath("libtimcl_bad.so"), {{"mode", mode}},
                    {.watch = watch});
}

PlugGraph ReluGraph() {
  PlugGraph graph(testing::Known());
  graph.Output(graph.Op("tim.Relu", {graph.Input({4, 3})}));
  return graph;
}

// The graph runs, by whatever device.
void ExpectRuns(const PlugGraph& graph, const device::Devices& devices,
                int device_calls) {
  auto ready = testing::Ready(graph, devices);
  ASSERT_OK(ready);
  EXPECT_EQ(CountSteps<ir::DeviceCall>(ready->executable->plan()),
            device_calls);
  const std::vector<Floats> inputs = {testing::SomeFloats(12)};
  const auto results = testing::Run(*ready, inputs);
  ASSERT_OK(results);
  testing::ExpectClose(*results, testing::Expected(graph, inputs));
}

std::string ReasonOf(const std::string& kind) {
  for (const PluginFacts& facts : Plugins()) {
    if (facts.kind == kind) return facts.error;
  }
  return "not loaded";
}

struct Mode {
  const char* mode;
  const char* reason;
};

// Mistakes that are found while a graph is compiled or prepared.
TEST(BadPlugin, AGraphIsCompiledWithoutIt) {
  const Mode modes[] = {
      {"throw_supports", "an exception left TimKernel::supports()"},
      {"throw_int", "an exception left TimKernel::supports()"},
      {"unknown_code", "TimKernel::supports() gave the code 77"},
      {"no_reason", "TimKernel::supports() refused without a reason"},
      {"throw_cost", "an exception left TimKernel::cost()"},
      {"negative_cost", "TimKernel::cost() gave no number from 0 on"},
      {"bad_layouts",
       "TimKernel::layouts() gave layouts of 7 inputs, the node "
       "has 1"},
      {"throw_lower", "an exception left TimKernel::lower()"},
      {"empty_lower", "TimKernel::lower() of bad.relu_f32 added no step"},
      {"bad_operand", "TimKernel::lower() gave input 99 is absent"},
      {"huge_scratch", "scratch of 1152921504606846976 bytes"},
      {"late_scratch", "has scratch up to step 5 of 1"},
      {"huge_payload", "a payload of 1099511627776 bytes; it may have 1048576"},
      {"writes_input", "a step that writes operand 0, which is only read"},
      {"throw_build", "an exception left TimKernelFns::build()"},
      {"null_program", "TimKernelFns::build() succeeded without a program"},
      {"throw_prepare", "an exception left TimKernelFns::prepare()"},
  };
  for (const Mode& mode : modes) {
    SCOPED_TRACE(mode.mode);
    ASSERT_OK(LoadBad(mode.mode));
    {
      const auto devices = testing::HostAnd("bad");
      ASSERT_OK(devices);
      const PlugGraph graph = ReluGraph();
      ExpectRuns(graph, *devices, 0);
      EXPECT_THAT(ReasonOf("bad"), HasSubstr(mode.reason));
      EXPECT_THAT(ReasonOf("bad"),
                  HasSubstr("plug-in bad broke its contract: "));
      // The second time it is not asked, and the plan says why.
      auto again = testing::Ready(graph, *devices);
      ASSERT_OK(again);
      const auto& decisions = again->executable->plan().decisions;
      ASSERT_EQ(decisions.size(), 1u);
      EXPECT_THAT(decisions[0].refused,
                  ::testing::Contains(HasSubstr(mode.reason)));
    }
    EXPECT_OK(UnloadPlugin("bad"));
  }
}

TEST(BadPlugin, ADeviceWithoutAScoreSaysWhy) {
  ASSERT_OK(LoadBad("no_score"));
  EXPECT_ERROR(testing::HostAnd("bad").status(),
               "device bad:0 is not usable: plug-in bad: the board sleeps");
  EXPECT_OK(UnloadPlugin("bad"));
}

// Plans keep tensors further apart than such a device needs.
TEST(BadPlugin, ADeviceMayTakeAnyOffset) {
  ASSERT_OK(LoadBad("bytes"));
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    PlugGraph graph(testing::Known());
    const ir::ValueId x = graph.Input({4, 3});
    const ir::ValueId a = graph.Op("tim.Relu", {x});
    graph.Output(graph.Op("tim.Relu", {graph.Op("tim.Neg", {a})}));
    graph.Output(a);
    ExpectRuns(graph, *devices, 2);
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

// Operators that a kernel does not ask for would be left out.
TEST(BadPlugin, KernelsThatIgnoreFusedOperatorsGetNone) {
  ASSERT_OK(LoadBad("ignores_epilogue"));
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    PlugGraph graph(testing::Known());
    const ir::ValueId once = graph.Op("tim.Relu", {graph.Input({4, 3})});
    graph.Output(graph.Op("tim.Relu", {once}));
    ExpectRuns(graph, *devices, 2);
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

TEST(BadPlugin, KernelsThatCannotBeBuiltAreReplaced) {
  ASSERT_OK(LoadBad("build_fails"));
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    ExpectRuns(ReluGraph(), *devices, 0);
    EXPECT_EQ(ReasonOf("bad"), "");  // it said what is wrong
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

TEST(BadPlugin, AFailureToLowerNamesNodeAndKernel) {
  ASSERT_OK(LoadBad("lower_fails"));
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    const auto ready = testing::Ready(ReluGraph(), *devices);
    EXPECT_ERROR(ready, "kernel bad.relu_f32");
    EXPECT_ERROR(ready, "plug-in bad, TimKernel::lower(): no idea");
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

TEST(BadPlugin, LongReasonsAreCut) {
  ASSERT_OK(LoadBad("long_reason"));
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    auto ready = testing::Ready(ReluGraph(), *devices);
    ASSERT_OK(ready);
    EXPECT_THAT(ready->executable->plan().decisions[0].refused,
                ::testing::Contains(HasSubstr(std::string(1023, 'r'))));
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

// Mistakes in a run: its error says what, and the next Compile does without.
TEST(BadPlugin, ARunFails) {
  const Mode modes[] = {
      {"throw_enqueue", "an exception left TimKernelFns::enqueue()"},
      {"enqueue_fails", "TimKernelFns::enqueue(): overheat"},
      {"lost_enqueue", "TimKernelFns::enqueue(): fell off"},
      {"lost_copy", "TimDeviceFns::copy_in(): the bus is gone"},
  };
  for (const Mode& mode : modes) {
    SCOPED_TRACE(mode.mode);
    ASSERT_OK(LoadBad(mode.mode));
    {
      const auto devices = testing::HostAnd("bad");
      ASSERT_OK(devices);
      const PlugGraph graph = ReluGraph();
      auto ready = testing::Ready(graph, *devices);
      // Memory of a run is cleared by a copy before there is one.
      Status status = ready.status();
      if (ready.ok()) {
        status = testing::Run(*ready, {testing::SomeFloats(12)}).status();
      }
      EXPECT_ERROR(status, mode.reason);
      const bool lost = std::string(mode.mode).rfind("lost", 0) == 0;
      EXPECT_EQ(status.code() == StatusCode::kDeviceLost, lost);
      if (std::string(mode.mode) == "throw_enqueue") {
        ExpectRuns(graph, *devices, 0);
      }
    }
    EXPECT_OK(UnloadPlugin("bad"));
  }
}

TEST(BadPlugin, OutOfMemoryAndMissingBuffersAreErrors) {
  for (const Mode& mode : {Mode{"no_memory", "TimDeviceFns::allocate(): full"},
                           Mode{"null_buffer",
                                "TimDeviceFns::allocate() succeeded without a "
                                "buffer"}}) {
    ASSERT_OK(LoadBad(mode.mode));
    {
      const auto devices = testing::HostAnd("bad");
      ASSERT_OK(devices);
      const auto buffer = (*devices)[1]->Allocate(64, ir::MemoryKind::kDevice);
      EXPECT_ERROR(buffer, mode.reason);
    }
    EXPECT_OK(UnloadPlugin("bad"));
  }
}

TEST(BadPlugin, MemoryIsAskedForAgainOnceItWasTrimmed) {
  ASSERT_OK(LoadBad("hoards"));
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    EXPECT_OK((*devices)[1]->Allocate(64, ir::MemoryKind::kDevice));
  }
  EXPECT_OK(UnloadPlugin("bad"));
}

// A time limit ends the wait for work that does not end.
TEST(BadPlugin, WorkThatDoesNotEndLosesTheDevice) {
  ASSERT_OK(LoadBad("hangs", {.timeout = std::chrono::seconds(1)}));
  const PlugGraph graph = ReluGraph();
  {
    const auto devices = testing::HostAnd("bad");
    ASSERT_OK(devices);
    auto ready = testing::Ready(graph, *devices);
    ASSERT_OK(ready);
    const auto results = testing::Run(*ready, {testing::SomeFloats(12)});
    EXPECT_EQ(results.status().code(), StatusCode::kDeviceLost);
    EXPECT_ERROR(results,
                 "did not end its work within the 1 seconds of "
                 "TIMCL_PLUGIN_TIMEOUT");
  }
  // Its work still uses it.
  EXPECT_ERROR(UnloadPlugin("bad"), "plug-in bad is in use");
}

// ---- functions of the library -----------------------------------------------

TEST(HostFunctions, RunBodiesInParallel) {
  std::vector<std::atomic<int>> calls(1000);
  EXPECT_EQ(
      Host().parallel_for(
          calls.size(),
          [](void* state, uint64_t index) {
            ++(*static_cast<std::vector<std::atomic<int>>*>(state))[index];
          },
          &calls),
      TIM_OK);
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_EQ(Host().parallel_for(
                0, [](void*, uint64_t) { FAIL(); }, nullptr),
            TIM_OK);
  EXPECT_EQ(Host().parallel_for(1, nullptr, nullptr), TIM_INVALID_ARGUMENT);
  EXPECT_EQ(Host().parallel_for(
                3, [](void*, uint64_t) { throw 1; }, nullptr),
            TIM_INTERNAL_ERROR);
}

// Keys of a plug-in are its own, whatever they are.
TEST(HostFunctions, KeepBytes) {
  testing::MapStore map;
  TimStore store{.store = &map, .prefix = "acme|"};
  std::string got = "nothing";
  const auto load = [&](const char* key) {
    return Host().store_load(
        &store, key,
        [](void* state, const void* data, uint64_t bytes) {
          static_cast<std::string*>(state)->assign(
              static_cast<const char*>(data), bytes);
        },
        &got);
  };
  EXPECT_EQ(load("program"), TIM_NOT_FOUND);
  EXPECT_EQ(got, "nothing");
  Host().store_save(&store, "program", {"a\0b", 3});
  EXPECT_EQ(load("program"), TIM_OK);
  EXPECT_EQ(got, std::string("a\0b", 3));
  EXPECT_EQ(map.content.count("acme|program"), 1u);
  Host().store_save(&store, "empty", {nullptr, 0});
  EXPECT_EQ(load("empty"), TIM_OK);
  EXPECT_EQ(got, "");
  Host().store_save(&store, "none", {nullptr, 8});
  EXPECT_EQ(load("none"), TIM_NOT_FOUND);
  EXPECT_EQ(load(nullptr), TIM_INVALID_ARGUMENT);
  EXPECT_EQ(Host().store_load(nullptr, "a", nullptr, nullptr),
            TIM_INVALID_ARGUMENT);
  Host().store_save(nullptr, "a", {"b", 1});
  EXPECT_EQ(Host().store_load(
                &store, "program",
                [](void*, const void*, uint64_t) { throw 1; }, nullptr),
            TIM_INTERNAL_ERROR);
}

TEST(HostFunctions, WriteLinesOfTheLog) {
  ::testing::internal::CaptureStderr();
  Host().log(1, "no board is there");
  Host().log(0, "of no severity");
  Host().log(5, "of no severity");
  Host().log(1, nullptr);
  const std::string written = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr("[error] plug-in: no board is there\n"));
  EXPECT_THAT(written, ::testing::Not(HasSubstr("of no severity")));
}

}  // namespace
}  // namespace tim::plugin
