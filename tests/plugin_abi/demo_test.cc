// The sample in C: its device, kernels and operator through the compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "device/device_sources.h"
#include "device/host/host_device.h"
#include "plugin/plugins.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/child_process.h"
#include "tests/support/status_macros.h"

namespace tim::plugin {
namespace {

using testing::CountSteps;
using testing::Floats;
using ::testing::HasSubstr;
using testing::PlugGraph;

class Demo : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(LoadPlugin(testing::LibraryPath("libtimcl_demo.so"), {}, {}));
    auto devices = testing::HostAnd("demo");
    ASSERT_OK(devices);
    devices_ = *std::move(devices);
  }
  void TearDown() override {
    devices_.clear();
    EXPECT_OK(UnloadPlugin("demo"));
  }

  device::Devices devices_;
};

// Check 7 of the specification, without an OpenCL device beside it.
TEST_F(Demo, RunsABlockWithItsKernels) {
  const PlugGraph graph = testing::ResNetBlock(testing::Known());
  auto ready = testing::Ready(graph, devices_, /*strict=*/true);
  ASSERT_OK(ready);
  const ir::Plan& plan = ready->executable->plan();
  EXPECT_EQ(CountSteps<ir::DeviceCall>(plan), 5);
  EXPECT_EQ(CountSteps<ir::HostCall>(plan), 0);
  for (const uint32_t seed : {1u, 2u}) {
    const std::vector<Floats> inputs = {
        testing::SomeFloats(9 * 7 * 4 * 2, seed)};
    const auto results = testing::Run(*ready, inputs);
    ASSERT_OK(results);
    testing::ExpectClose(*results, testing::Expected(graph, inputs));
  }
}

// Check 12: an operator on its device, made of others, and by eval.
TEST_F(Demo, ItsOperatorRunsEverywhere) {
  PlugGraph graph(testing::Known());
  graph.Output(graph.Op("demo.SquaredRelu", {graph.Input({5, 3})}));
  const std::vector<Floats> inputs = {testing::SomeFloats(15)};
  Floats squares;
  for (const float x : inputs[0]) squares.push_back(x > 0 ? x * x : 0);
  auto on_device = testing::Ready(graph, devices_, /*strict=*/true);
  ASSERT_OK(on_device);
  EXPECT_EQ(CountSteps<ir::DeviceCall>(on_device->executable->plan()), 1);
  const auto results = testing::Run(*on_device, inputs);
  ASSERT_OK(results);
  EXPECT_EQ(*results, squares);
  auto on_host = testing::Ready(graph, {devices_[0]});
  ASSERT_OK(on_host);
  EXPECT_EQ(CountSteps<ir::HostCall>(on_host->executable->plan()), 2);
  const auto others = testing::Run(*on_host, inputs);
  ASSERT_OK(others);
  EXPECT_EQ(*others, squares);
  const ir::OpSchema& schema = *testing::Known()->Find("demo.SquaredRelu");
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape{5, 3};
  Floats evaluated(15);
  const ir::ConstTensor in[] = {{&desc, inputs[0].data()}};
  const ir::MutableTensor out[] = {{&desc, evaluated.data()}};
  ir::Node node;
  node.schema = &schema;
  ASSERT_OK(schema.eval({node, in, out}));
  EXPECT_EQ(evaluated, squares);
}

TEST_F(Demo, ItsOperatorRefusesOtherTypes) {
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({4});
  const ir::ValueId y = graph.Op("demo.SquaredRelu", {x});
  graph.graph().value(x).desc.type = ir::DataType::kInt32;
  graph.graph().value(y).desc.type = ir::DataType::kInt32;
  graph.Output(y);
  EXPECT_ERROR(testing::Ready(graph, devices_),
               "demo.SquaredRelu takes and gives float32");
}

TEST_F(Demo, SaysWhatItIsAndWhatItDoesNotOffer) {
  const auto facts = Plugins();
  ASSERT_FALSE(facts.empty());
  EXPECT_EQ(facts[0].kind, "demo");
  EXPECT_EQ(facts[0].version, "1.0");
  EXPECT_EQ(facts[0].abi, "1.0");
  EXPECT_TRUE(facts[0].loaded);
  EXPECT_EQ(facts[0].error, "");
  EXPECT_THAT(facts[0].devices, ::testing::ElementsAre("demo:0"));
  EXPECT_THAT(facts[0].not_offered,
              ::testing::IsSupersetOf({std::string("TimDeviceFns::copy_peer"),
                                       std::string("TimDeviceFns::query")}));
  EXPECT_EQ(devices_[1]->info().kind, "demo");
  EXPECT_EQ(devices_[1]->info().name, "demo device");
}

// Check 6: users of a device hold it.
TEST_F(Demo, IsNotUnloadedWhileAnybodyUsesIt) {
  PlugGraph graph(testing::Known());
  graph.Output(graph.Op("demo.SquaredRelu", {graph.Input({5, 3})}));
  auto ready = testing::Ready(graph, devices_);
  ASSERT_OK(ready);
  const Status status = UnloadPlugin("demo");
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_ERROR(status, "plug-in demo is in use: its devices have ");
  *ready = {};
  devices_.clear();
  ASSERT_OK(UnloadPlugin("demo"));
  EXPECT_FALSE(device::FindDeviceSource("demo").has_value());
  EXPECT_EQ(testing::Known()->Find("demo.SquaredRelu"), nullptr);
  // Graphs that were made of it before say so.
  EXPECT_ERROR(testing::Ready(graph, {device::CreateHostDevice()}),
               "plug-in demo is not loaded any more");
  SetUp();
  const PlugGraph again = testing::ResNetBlock(testing::Known());
  EXPECT_OK(testing::Ready(again, devices_, /*strict=*/true));
}

// Check 6: a process may end while it uses a plug-in.
TEST_F(Demo, ProcessesEndWithoutUnloading) {
  constexpr int kProcesses = 100;
  if (testing::IsChild()) {
    PlugGraph graph(testing::Known());
    graph.Output(graph.Op("demo.SquaredRelu", {graph.Input({5, 3})}));
    auto ready = testing::Ready(graph, devices_);
    ASSERT_OK(ready);
    static auto* const kept = new auto(*std::move(ready));
    ASSERT_OK(testing::Run(*kept, {testing::SomeFloats(15)}));
    std::exit(HasFailure() ? 1 : 0);
  }
  for (int i = 0; i < kProcesses; ++i) {
    const auto child = testing::RunAsChild({});
    ASSERT_EQ(child.exit_status, 0) << child.output;
  }
}

TEST_F(Demo, IsLoadedOnce) {
  EXPECT_ERROR(LoadPlugin(testing::LibraryPath("libtimcl_demo.so"), {}, {}),
               "kind 'demo' is taken by another plug-in");
}

TEST_F(Demo, BuffersCanBeCopiedAndViewed) {
  device::Device& device = *devices_[1];
  const auto a = device.Allocate(256, ir::MemoryKind::kDevice);
  const auto b = device.Allocate(256, ir::MemoryKind::kDevice);
  ASSERT_OK(a);
  ASSERT_OK(b);
  const auto view = (*a)->View(64, 128);
  ASSERT_OK(view);
  const auto host =
      device::CreateHostDevice()->Allocate(128, ir::MemoryKind::kHost);
  ASSERT_OK(host);
  auto* const bytes = static_cast<unsigned char*>((*host)->host_address());
  for (int i = 0; i < 128; ++i) bytes[i] = static_cast<unsigned char>(i);
  const auto stream = device.CreateStream();
  ASSERT_OK(stream);
  ASSERT_OK((*stream)->Copy({host->get(), 0, 128}, {view->get(), 0, 128}));
  ASSERT_OK((*stream)->Copy({a->get(), 64, 128}, {b->get(), 128, 128}));
  const auto copied = (*stream)->Record();
  ASSERT_OK(copied);
  ASSERT_OK((*copied)->Wait());
  EXPECT_TRUE((*copied)->Ready());
  std::fill(bytes, bytes + 128, static_cast<unsigned char>(0));
  ASSERT_OK((*stream)->Copy({b->get(), 128, 128}, {host->get(), 0, 128}));
  const auto read = (*stream)->Record();
  ASSERT_OK(read);
  ASSERT_OK((*read)->Wait());
  for (int i = 0; i < 128; ++i) ASSERT_EQ(bytes[i], i);
  EXPECT_OK(device.Allocate(0, ir::MemoryKind::kDevice));
  EXPECT_EQ(device.Allocate(int64_t{1} << 40, ir::MemoryKind::kDevice)
                .status()
                .code(),
            StatusCode::kOutOfMemory);
}

}  // namespace
}  // namespace tim::plugin
