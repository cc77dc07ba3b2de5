// Contexts and the choice of devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <variant>

#include "device/opencl/opencl_device.h"
#include "runtime/device_pool.h"
#include "tests/support/child_process.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

TEST(SelectDevices, Host) {
  const auto devices = runtime::SelectDevices("host");
  ASSERT_TRUE(devices.ok()) << devices.status().message();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ((*devices)[0]->info().kind, "host");
}

TEST(SelectDevices, UnsetTakesOpenClOrTheHost) {
  const auto devices = runtime::SelectDevices("");
  ASSERT_TRUE(devices.ok()) << devices.status().message();
  EXPECT_EQ((*devices)[0]->info().kind, "host");
  EXPECT_EQ(devices->size(), device::CountOpenClDevices() > 0 ? 2u : 1u);
}

TEST(SelectDevices, DeviceThatIsNotThere) {
  const auto devices = runtime::SelectDevices("opencl:4096");
  ASSERT_FALSE(devices.ok());
  EXPECT_NE(devices.status().message().find("TIMCL_DEVICE=opencl:4096"),
            std::string::npos)
      << devices.status().message();
}

TEST(SelectDevices, NamesThatAreNoDevice) {
  for (const char* wanted : {"bogus", "HOST", "host:1", "opencl:", "opencl:-1",
                             "opencl:1x", "opencl:99999999999999999999"}) {
    const auto devices = runtime::SelectDevices(wanted);
    ASSERT_FALSE(devices.ok()) << wanted;
    EXPECT_NE(devices.status().message().find("expected host, opencl"),
              std::string::npos)
        << devices.status().message();
  }
}

TEST(SelectDevices, DevicesAreShared) {
  for (const char* wanted : {"host", "opencl", "opencl:0", ""}) {
    const auto first = runtime::SelectDevices(wanted);
    const auto second = runtime::SelectDevices(wanted);
    if (!first.ok()) continue;
    EXPECT_EQ(*first, *second) << wanted;
  }
}

TEST(Context, Facts) {
  const auto context = HostContext();
  EXPECT_TRUE(context->isClOnly());
  EXPECT_FALSE(context->hasSP());
  EXPECT_EQ(context->DeviceName(), "host");
}

TEST(Context, CreateTwiceAndNested) {
  const auto outer = vx::Context::Create();
  ASSERT_NE(outer, nullptr) << vx::LastError();
  for (int i = 0; i < 3; ++i) {
    const auto inner = vx::Context::Create();
    ASSERT_NE(inner, nullptr) << vx::LastError();
    EXPECT_NE(inner, outer);
    ReluGraph g({2}, inner->CreateGraph());
    EXPECT_TRUE(g.graph->Run()) << vx::LastError();
  }
}

TEST(Context, CreateFromManyThreads) {
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([] {
      const auto context = vx::Context::Create();
      ASSERT_NE(context, nullptr) << vx::LastError();
      ReluGraph g({8}, context->CreateGraph());
      Write<float>(g.input, std::vector<float>(8, 3));
      ASSERT_TRUE(g.graph->Run()) << vx::LastError();
      EXPECT_EQ(Read(g.output), std::vector<float>(8, 3));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Context, PlacementReachesTheCompiler) {
  auto devices = runtime::SelectDevices("opencl");
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  for (const int device : {0, 1}) {
    const auto context = vx::CreateContext(
        *devices, {.placement = [=](const ir::Node&) { return device; }});
    ReluGraph g({2}, context->CreateGraph());
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    const ir::Plan* plan = vx::CompiledPlan(*g.graph);
    EXPECT_EQ(std::any_of(plan->steps.begin(), plan->steps.end(),
                          [](const ir::Step& step) {
                            return step.label == "Relu#1" && step.device == 0;
                          }),
              device == 0);
  }
}

// Without strict mode, and although the host has the data.
TEST(Context, LargeTensorsStayOnTheDevice) {
  auto devices = runtime::SelectDevices("opencl");
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  for (const uint32_t elements : {1u << 10, 1u << 16, 1u << 22, 1u << 24}) {
    const auto graph = vx::CreateContext(*devices)->CreateGraph();
    const ReluGraph relu({elements}, graph);
    ASSERT_TRUE(graph->Compile()) << vx::LastError();
    for (const ir::Step& step : vx::CompiledPlan(*graph)->steps) {
      EXPECT_FALSE(std::holds_alternative<ir::HostCall>(step.action))
          << elements << " elements: " << step.label;
    }
  }
}

// No OpenCL kernel takes 4-bit data.
TEST(Context, StrictReachesTheCompiler) {
  auto devices = runtime::SelectDevices("opencl");
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  for (const bool strict : {false, true}) {
    const auto graph =
        vx::CreateContext(*devices, {.strict = strict})->CreateGraph();
    const auto spec = [](vx::TensorAttribute attribute) {
      return vx::TensorSpec(vx::DataType::UINT4, {2, 3}, attribute);
    };
    auto transpose =
        graph->CreateOperation<vx::ops::Transpose>(std::vector<uint32_t>{1, 0});
    (*transpose)
        .BindInput(graph->CreateTensor(spec(vx::INPUT)))
        .BindOutput(graph->CreateTensor(spec(vx::OUTPUT).SetShape({3, 2})));
    if (strict) {
      EXPECT_TRUE(CompileFailsWith(*graph, "strict"));
    } else {
      EXPECT_TRUE(graph->Compile()) << vx::LastError();
    }
  }
}

// Policies with a device of the environment and without one.
TEST(Context, APolicyOfTheEnvironmentIsNamedWhereItIsWrong) {
  if (IsChild()) {
    EXPECT_EQ(vx::Context::Create(), nullptr);
    EXPECT_THAT(vx::LastError(),
                ::testing::StartsWith("TIMCL_POLICY: policy: split='often'"));
    // It is not this one's.
    EXPECT_NE(vx::Context::CreateOn("host"), nullptr) << vx::LastError();
    return;
  }
  for (const char* device : {"", "host", "acme:0"}) {
    const ChildResult child =
        RunAsChild({{"TIMCL_POLICY", "split=often"}, {"TIMCL_DEVICE", device}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
  }
}

}  // namespace
}  // namespace tim::testing
