// Programs that know only the CPU, and compute on another device.
#include "graph_api/offload.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "oneapi/dnnl/dnnl_graph.hpp"
#include "tests/graph_api/partition_support.h"
#include "tests/support/child_process.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/status_macros.h"
#include "tim/graph/residency.hpp"

namespace tim::graph {
namespace {

using ::tim::testing::FakeDevice;
using ::tim::testing::FakeOptions;
using ::tim::testing::IsChild;
using ::tim::testing::RunAsChild;
using Floats = std::vector<float>;

/// A hidden layer, its activation and a sum, by the original API's names alone:
/// the last line of a program that was never told of another device.
Floats RunNetwork(const dnnl::graph::engine& eng) {
  using namespace dnnl::graph;  // NOLINT
  using lt = dnnl::graph::logical_tensor;
  constexpr int64_t kRows = 5, kWidth = 33, kClasses = 7;
  const auto described = [](size_t id, const lt::dims& dims,
                            lt::property_type property =
                                lt::property_type::variable) {
    return lt(id, lt::data_type::f32, dims, lt::layout_type::strided, property);
  };
  const lt x = described(0, {kRows, kWidth});
  const lt w = described(1, {kWidth, kClasses}, lt::property_type::constant);
  const lt product = described(2, {kRows, kClasses});
  const lt bias = described(3, {kClasses}, lt::property_type::constant);
  const lt sum = described(4, {kRows, kClasses});
  const lt y = described(5, {kRows, kClasses});
  dnnl::graph::graph g(dnnl::engine::kind::cpu);
  g.add_op(op(0, op::kind::MatMul, {x, w}, {product}));
  g.add_op(op(1, op::kind::Add, {product, bias}, {sum}));
  g.add_op(op(2, op::kind::ReLU, {sum}, {y}));
  g.finalize();
  const auto numbers = [](size_t count, int step) {
    Floats made(count);
    for (size_t i = 0; i < count; ++i) {
      made[i] = static_cast<float>(static_cast<int>(i) * step % 13 - 6);
    }
    return made;
  };
  Floats x_data = numbers(kRows * kWidth, 5);
  Floats w_data = numbers(kWidth * kClasses, 7);
  Floats bias_data = numbers(kClasses, 3);
  Floats y_data(kRows * kClasses, -1);
  dnnl::stream strm(eng);
  const auto compiled =
      g.get_partitions().at(0).compile({x, w, bias}, {y}, eng);
  for (int i = 0; i < 2; ++i) {
    compiled.execute(
        strm,
        {tensor(x, eng, x_data.data()), tensor(w, eng, w_data.data()),
         tensor(bias, eng, bias_data.data())},
        {tensor(y, eng, y_data.data())});
  }
  return y_data;
}

tim_graph_status_t MakingOne(engine::kind kind, const std::string& offload) {
  try {
    make_engine(kind, 0, engine_options{offload});
  } catch (const error& e) {
    return e.status;
  }
  return tim_graph_success;
}

TEST(Offload, IsUnknownToTheProgram) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  if (!IsChild()) {
    // The device of the process is another one.
    const auto result = RunAsChild(
        {{"TIMCL_GRAPH_OFFLOAD", "opencl:0"}, {"TIMCL_DEVICE", "host"}});
    EXPECT_EQ(result.exit_status, 0) << result.output;
    return;
  }
  const dnnl::engine eng(dnnl::engine::kind::cpu, 0);
  EXPECT_EQ(eng.get_kind(), dnnl::engine::kind::cpu);
  EXPECT_NE(ocl_interop::get_device(eng), nullptr);
  const engine host = make_engine(engine::kind::cpu, 0, engine_options{"host"});
  EXPECT_EQ(RunNetwork(eng), RunNetwork(host));
}

TEST(Offload, IsAnOptionOfEngines) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const engine eng =
      make_engine(engine::kind::cpu, 0, engine_options{"opencl:0"});
  EXPECT_EQ(eng.get_kind(), engine::kind::cpu);
  const engine host = make_engine(engine::kind::cpu, 0, engine_options{"host"});
  EXPECT_EQ(RunNetwork(eng), RunNetwork(host));
}

TEST(Offload, RefusesUnknownDevices) {
  for (const char* name : {"opencl:99", "opencl:", "opencl:x", "opencl:-1",
                           "opencl:1x", "gpu", "host0"}) {
    EXPECT_EQ(MakingOne(engine::kind::cpu, name), tim_graph_invalid_arguments)
        << name;
  }
  EXPECT_EQ(MakingOne(engine::kind::gpu, "host"), tim_graph_invalid_arguments);
  EXPECT_EQ(MakingOne(engine::kind::cpu, "host"), tim_graph_success);
}

TEST(Offload, RefusesUnknownDevicesOfTheEnvironment) {
  if (!IsChild()) {
    const auto result = RunAsChild({{"TIMCL_GRAPH_OFFLOAD", "abacus"}});
    EXPECT_EQ(result.exit_status, 0) << result.output;
    return;
  }
  tim_graph_engine_t none = nullptr;
  EXPECT_EQ(tim_graph_engine_create(&none, tim_graph_cpu, 0),
            tim_graph_invalid_arguments);
  EXPECT_NE(std::string(tim_graph_last_message()).find("abacus"),
            std::string::npos);
}

/// A cpu engine that computes on a device with memory of its own, behind
/// delays.
std::shared_ptr<tim_graph_engine> FakeOffload(bool runs_eval) {
  const auto fake = std::make_shared<FakeDevice>(
      FakeOptions{.seed = 3, .max_delay_us = 200, .runs_eval = runs_eval});
  EngineParts parts;
  parts.kind = tim_graph_cpu;
  parts.devices = {device::CreateHostDevice(), fake};
  parts.allocator = OwnHostAllocator();
  parts.programs = ProgramsFor(*fake);
  parts.offloaded = true;
  tim_graph_engine* const made = tim_graph_engine::Make(std::move(parts));
  auto shared = made->shared_from_this();
  made->Drop();
  return shared;
}

TEST(Offload, RunsBehindDelays) {
  const auto engine_of = FakeOffload(true);
  const dnnl::graph::engine eng(engine_of.get(), true);
  const engine host = make_engine(engine::kind::cpu, 0, engine_options{"host"});
  EXPECT_EQ(RunNetwork(eng), RunNetwork(host));
}

CompileResult CompileRelu(const std::shared_ptr<tim_graph_engine>& on,
                          tim_graph_tensor_property_t property) {
  using testing::Described;
  const LogicalTensor x = testing::WithProperty(Described(0, {8}), property);
  const LogicalTensor y = Described(1, {8});
  return testing::TestPartition({testing::MakeOp(0, "ReLU", {x}, {y})}, {x},
                                {y})
      .CompileFor(on);
}

// The device does no operator at all, so the host does.
TEST(Offload, TellsWhatTheHostDoes) {
  if (!IsChild()) {
    const auto result = RunAsChild(
        {{"TIMCL_GRAPH_VERBOSE", "dispatch"}, {"TIMCL_STRICT", "0"}});
    EXPECT_EQ(result.exit_status, 0) << result.output;
    EXPECT_NE(result.output.find("timcl_graph,dispatch,"), std::string::npos)
        << result.output;
    EXPECT_NE(result.output.find("the host does"), std::string::npos)
        << result.output;
    return;
  }
  EXPECT_OK(CompileRelu(FakeOffload(false), tim_graph_tensor_property_variable)
                .status);
}

TEST(Offload, IsStrictWhereItIsWanted) {
  if (!IsChild()) {
    const auto result = RunAsChild({{"TIMCL_STRICT", "1"}});
    EXPECT_EQ(result.exit_status, 0) << result.output;
    return;
  }
  for (const auto property : {tim_graph_tensor_property_variable,
                              tim_graph_tensor_property_constant}) {
    EXPECT_FALSE(CompileRelu(FakeOffload(false), property).status.ok());
    EXPECT_OK(CompileRelu(FakeOffload(true), property).status);
  }
}

}  // namespace
}  // namespace tim::graph
