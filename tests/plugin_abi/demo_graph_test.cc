// The sample with a compiler of its own: parts, stored blobs, held constants,
// edits.  Checks 9, 10 and 11 of the specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compiler/compiler.h"
#include "device/device_pools.h"
#include "plugin/plugins.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/child_process.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::CountSteps;
using testing::Floats;
using ::testing::HasSubstr;
using testing::MapStore;
using testing::PlugGraph;

class DemoGraph : public ::testing::Test {
 protected:
  void SetUp() override { LoadDemo(); }
  void TearDown() override { UnloadDemo(); }

  void LoadDemo(const PluginOptionList& options = {}) {
    ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_demo_graph.so"),
                         options, {}));
    auto devices = testing::HostAnd("demo_graph");
    ASSERT_OK(devices);
    devices_ = *std::move(devices);
  }
  void UnloadDemo() {
    devices_.clear();
    EXPECT_OK(UnloadPlugin("demo_graph"));
  }

  device::Devices devices_;
};

// Twelve operators over two inputs and a constant of `elements`.
PlugGraph Chain(int64_t elements = 40) {
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({elements});
  const ir::ValueId y = graph.Input({elements});
  ir::ValueId value = x;
  for (int i = 0; i < 3; ++i) {
    value = graph.Op("tim.Add", {value, graph.Constant({elements})});
    value = graph.Op("tim.Relu", {value});
    value = graph.Op("tim.Multiply", {value, y});
    value = graph.Op("tim.Sub", {value, x});
  }
  graph.Output(value);
  return graph;
}

std::vector<Floats> Inputs(size_t elements = 40) {
  return {testing::SomeFloats(elements, 3), testing::SomeFloats(elements, 4)};
}

void ExpectRuns(const PlugGraph& graph, runtime::ReadyGraph& ready) {
  const auto results = testing::Run(ready, Inputs());
  ASSERT_OK(results);
  testing::ExpectClose(*results, testing::Expected(graph, Inputs()));
}

TEST_F(DemoGraph, RunsAPartInOneCall) {
  const PlugGraph graph = Chain();
  auto ready = testing::Ready(graph, devices_, /*strict=*/true);
  ASSERT_OK(ready);
  EXPECT_EQ(CountSteps<ir::GraphCall>(ready->executable->plan()), 1);
  EXPECT_EQ(CountSteps<ir::HostCall>(ready->executable->plan()), 0);
  ExpectRuns(graph, *ready);
  const auto again = testing::Run(*ready, Inputs());
  ASSERT_OK(again);
  testing::ExpectClose(*again, testing::Expected(graph, Inputs()));
}

// Check 9: the second process compiles nothing; what was harmed is compiled.
TEST_F(DemoGraph, WhatWasCompiledIsStored) {
  const auto store = std::make_shared<MapStore>();
  const auto compile = [&] {
    const PlugGraph graph = Chain();  // of the plug-in that is loaded now
    auto ready = testing::Ready(graph, devices_, /*strict=*/true, store);
    ASSERT_OK(ready);
    ExpectRuns(graph, *ready);
  };
  compile();
  EXPECT_EQ(store->builds, 1);
  ASSERT_EQ(store->content.size(), 1u);
  UnloadDemo();  // forgets what it built
  LoadDemo();
  compile();
  EXPECT_EQ(store->builds, 1);
  for (const auto& harm : std::vector<void (*)(std::string&)>{
           [](std::string& blob) { blob.resize(blob.size() / 2); },
           [](std::string& blob) { blob[blob.size() / 3] ^= 4; },
           [](std::string& blob) { blob.clear(); }}) {
    UnloadDemo();
    LoadDemo();
    harm(store->content.begin()->second);
    const int before = store->builds;
    compile();
    EXPECT_EQ(store->builds, before + 1);
  }
}

// Check 9: so does a process that has the store of another one.
TEST_F(DemoGraph, AnotherProcessLoadsWhatIsStored) {
  const auto store = std::make_shared<MapStore>();
  const char* const file = std::getenv("STORED_PART");
  if (testing::IsChild()) {
    std::ifstream stored(file);
    std::string key;
    std::getline(stored, key);
    store->content[key] = {std::istreambuf_iterator<char>(stored), {}};
  }
  const PlugGraph graph = Chain();
  auto ready = testing::Ready(graph, devices_, /*strict=*/true, store);
  ASSERT_OK(ready);
  ExpectRuns(graph, *ready);
  ASSERT_EQ(store->content.size(), 1u);
  EXPECT_EQ(store->builds, testing::IsChild() ? 0 : 1);
  if (testing::IsChild()) return;
  const std::string path = ::testing::TempDir() + "/stored_part";
  const auto& [key, blob] = *store->content.begin();
  ASSERT_EQ(key.find('\n'), std::string::npos);
  std::ofstream(path) << key << '\n' << blob;
  const auto child = testing::RunAsChild({{"STORED_PART", path}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
}

// Check 10: constants that the part holds are not on the device.
TEST_F(DemoGraph, ConstantsThatItHoldsAreNotUploaded) {
  constexpr int64_t kElements = 4000;
  const PlugGraph graph = Chain(kElements);
  auto ready = testing::Ready(graph, devices_, /*strict=*/true);
  ASSERT_OK(ready);
  const ir::Plan& plan = ready->executable->plan();
  for (const ir::ConstantBlock& block : plan.constants) {
    EXPECT_EQ(block.device, 0) << "a constant is on the device";
  }
  for (const ir::Step& step : plan.steps) {
    if (!std::holds_alternative<ir::GraphCall>(step.action)) continue;
    EXPECT_EQ(step.operands.size(), 3u);  // two inputs and the output
  }
}

// Bytes of the device that a graph holds once it has run.
class CountingBytes final : public testing::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  Result<std::unique_ptr<device::Buffer>> Allocate(
      int64_t bytes, ir::MemoryKind kind) override {
    in_use += bytes;
    return ForwardingDevice::Allocate(bytes, kind);
  }
  int64_t in_use = 0;  // nothing is given back while a graph lives
};

// Check 10: the device has as much less in use as these constants take.
TEST_F(DemoGraph, ConstantsThatItHoldsTakeNoMemoryThere) {
  constexpr int64_t kElements = 4096;
  std::map<std::string, int64_t> in_use;
  for (const std::string bakes : {"1", "0"}) {
    UnloadDemo();
    LoadDemo({{"bake", bakes}});
    const PlugGraph graph = Chain(kElements);
    const auto counting = std::make_shared<CountingBytes>(devices_[1]);
    auto ready =
        testing::Ready(graph, {devices_[0], counting}, /*strict=*/true);
    ASSERT_OK(ready);
    const auto results = testing::Run(*ready, Inputs(kElements));
    ASSERT_OK(results);
    testing::ExpectClose(*results, testing::Expected(graph, Inputs(kElements)));
    EXPECT_EQ(CountSteps<ir::GraphCall>(ready->executable->plan()), 1);
    in_use[bakes] = counting->in_use;
  }
  constexpr int64_t kConstants = 3 * kElements * int64_t{sizeof(float)};
  EXPECT_EQ(in_use["0"] - in_use["1"], kConstants);
}

// Nodes that it cannot do run elsewhere, and the plan says why.
TEST_F(DemoGraph, PartsAreDividedAtWhatItDoesNotTake) {
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({40});
  const ir::ValueId y = graph.Input({40});
  const ir::ValueId first = graph.Op("tim.Add", {x, y});
  const ir::ValueId middle = graph.Op("tim.Tanh", {first});
  // The first part reaches the last node on two ways, one around the middle.
  graph.Output(graph.Op("tim.Multiply", {middle, first}));
  auto ready = testing::Ready(graph, devices_);
  ASSERT_OK(ready);
  const ir::Plan& plan = ready->executable->plan();
  EXPECT_EQ(CountSteps<ir::GraphCall>(plan), 2);
  EXPECT_EQ(CountSteps<ir::HostCall>(plan), 1);
  // Two operators were claimed as one set; each part has its share of the time.
  double predicted_us = 0;
  for (const ir::PartitionPart& part : plan.notes.partition.parts) {
    if (part.graph) predicted_us += part.predicted_us;
  }
  EXPECT_NEAR(predicted_us, 2, 1e-6);
  ExpectRuns(graph, *ready);
  std::string refused;
  for (const ir::Decision& decision : plan.decisions) {
    for (const std::string& reason : decision.refused) refused += reason + "\n";
  }
  EXPECT_THAT(refused, HasSubstr("demo_graph.graph: it computes element by "
                                 "element only"));
  EXPECT_ERROR(testing::Ready(graph, devices_, /*strict=*/true),
               "it computes element by element only");
}

TEST_F(DemoGraph, PartsThatAreTooSmallAreLeft) {
  UnloadDemo();
  LoadDemo({{"min_nodes", "3"}});
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({40});
  graph.Output(
      graph.Op("tim.Add", {graph.Op("tim.Relu", {x}), graph.Input({40})}));
  auto ready = testing::Ready(graph, devices_);
  ASSERT_OK(ready);
  EXPECT_EQ(CountSteps<ir::GraphCall>(ready->executable->plan()), 0);
}

// Check 11, its first half: an edit that keeps the graph's meaning is made.
TEST_F(DemoGraph, EditsAreMade) {
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({40});
  ir::ValueId value = graph.Op("tim.Add", {x, graph.Input({40})});
  for (int i = 0; i < 3; ++i) value = graph.Op("tim.Relu", {value});
  graph.Output(value);
  auto ready = testing::Ready(graph, devices_, /*strict=*/true);
  ASSERT_OK(ready);
  for (const ir::Step& step : ready->executable->plan().steps) {
    const auto* call = std::get_if<ir::GraphCall>(&step.action);
    if (call == nullptr) continue;
    EXPECT_EQ(call->part->NodeIds().size(), 2u);
  }
  ExpectRuns(graph, *ready);
}

// A plan with a part can be compared: equal graphs give equal steps.
TEST_F(DemoGraph, EqualGraphsGiveEqualSteps) {
  const auto plan = [&] {
    auto ready = testing::Ready(Chain(), devices_, /*strict=*/true);
    EXPECT_OK(ready);
    return ready->executable->plan().steps;
  };
  EXPECT_EQ(plan(), plan());
}

}  // namespace
}  // namespace tim::plugin
