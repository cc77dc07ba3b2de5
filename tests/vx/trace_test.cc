// TIMCL_TRACE: what Compile and runs leave in the file.
#include "base/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cache/program_cache.h"
#include "runtime/device_pool.h"
#include "runtime/run_trace.h"
#include "tests/support/child_process.h"
#include "tests/support/status_macros.h"
#include "tests/support/trace_events.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Events = std::vector<TraceEvent>;

std::string PathOf(const std::string& name) {
  return ::testing::TempDir() + "/vx_trace_" + name + ".json";
}

Events Named(const Events& events, const std::string& name) {
  Events found;
  for (const TraceEvent& event : events) {
    if (event.name == name) found.push_back(event);
  }
  return found;
}

// x -> Relu -> Tanh -> Sigmoid on the host -> custom -> y, and Tanh -> z:
// kernels that are a chain where the device chains, a host step, a user's
// kernel.
struct Mixed {
  Mixed() {
    const auto devices = runtime::SelectDevices("opencl");
    if (!devices.ok()) return;
    graph = vx::CreateContext(*devices,
                              {.placement =
                                   [](const ir::Node& node) {
                                     return node.name.find("on_host") !=
                                                    std::string::npos
                                                ? 0
                                                : -1;
                                   },
                               .programs = runtime::ProgramCache::Create({})})
                ->CreateGraph();
    x = graph->CreateTensor(Floats({8, 3}, vx::INPUT));
    y = graph->CreateTensor(Floats({8, 3}, vx::OUTPUT));
    z = graph->CreateTensor(Floats({3, 8}, vx::OUTPUT));
    const auto a = graph->CreateTensor(Floats({8, 3}, vx::TRANSIENT));
    const auto b = graph->CreateTensor(Floats({8, 3}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Softmax>(1.0f, 0)->BindInput(x).BindOutput(
        a);
    graph->CreateOperation<vx::ops::Transpose>(std::vector<uint32_t>{1, 0})
        ->BindInput(a)
        .BindOutput(z);
    auto host = graph->CreateOperation<vx::ops::Sigmoid>();
    host->SetInstanceName("on_host");
    host->BindInput(a).BindOutput(b);
    graph->CreateOperation<TestOp>(OpPlan())->BindInput(b).BindOutput(y);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> x;
  std::shared_ptr<vx::Tensor> y;
  std::shared_ptr<vx::Tensor> z;
};

// Every step with a kernel has events, each called as both.
void ExpectKernels(const ir::Plan& plan, const Events& events, size_t runs) {
  for (const ir::Step& step : plan.steps) {
    if (step.kernel.empty()) continue;
    EXPECT_THAT(Named(events, step.label + " " + step.kernel), SizeIs(runs));
  }
}

// Runs that somebody looks at have spans as others, but for chains and for
// what is handed over as a whole.
TEST(Trace, TellsOfObservedRuns) {
  const std::string path = PathOf("observed");
  Mixed mixed;
  if (mixed.graph == nullptr) GTEST_SKIP() << "no OpenCL device";
  // The first call measures the devices, by runs of its own.
  EXPECT_TRUE(mixed.graph->Profile(1)) << vx::LastError();
  ASSERT_OK(StartTrace(path));
  EXPECT_TRUE(mixed.graph->Profile(2)) << vx::LastError();
  StopTrace();
  const Events events = ReadTrace(path);
  ExpectNested(events);
  const ir::Plan& plan = *vx::CompiledPlan(*mixed.graph);
  ExpectKernels(plan, events, 2);
  EXPECT_THAT(SpansOf(events, "chain"), IsEmpty());
  const Events host = SpansOf(events, "host");
  ASSERT_THAT(host, SizeIs(2));
  const Events kernels = SpansOf(events, "kernel");
  const auto steps = static_cast<size_t>(
      std::count_if(plan.steps.begin(), plan.steps.end(),
                    [](const auto& step) { return step.device != 0; }));
  EXPECT_THAT(SpansOf(events, "wait"), SizeIs(2 * steps));
  for (const TraceEvent& kernel : kernels) {
    EXPECT_FALSE(kernel.arguments.contains("estimated")) << kernel.name;
    EXPECT_NE(kernel.row, host[0].row);
    for (const TraceEvent& step : host) {
      EXPECT_TRUE(kernel.end <= step.begin || step.end <= kernel.begin)
          << kernel.name;
    }
  }
}

TEST(Trace, TellsOfCompileAndRuns) {
  const std::string path = PathOf("mixed");
  ASSERT_OK(StartTrace(path));
  std::string told = "nothing";
  int chained = 0;
  {
    Mixed mixed;
    if (mixed.graph == nullptr) {
      StopTrace();
      GTEST_SKIP() << "no OpenCL device";
    }
    ASSERT_TRUE(mixed.graph->Compile()) << vx::LastError();
    Write(mixed.x, std::vector<float>(24, 1));
    ASSERT_TRUE(mixed.graph->Run()) << vx::LastError();
    std::vector<float> x(24, 2);
    std::vector<float> y(24);
    std::vector<float> z(24);
    auto event = mixed.graph->RunAsync({x.data()}, {y.data(), z.data()});
    event.Then([&](const char* error) { told = error ? error : ""; });
    EXPECT_TRUE(event.Wait()) << vx::LastError();
    const ir::Plan& plan = *vx::CompiledPlan(*mixed.graph);
    for (const ir::Chain& chain : plan.chains) chained += chain.count;
    mixed.graph->Run();  // behind the callback
    const auto so_far = plan;
    mixed.graph = nullptr;
    StopTrace();
    const Events events = ReadTrace(path);
    ExpectNested(events);
    ExpectKernels(so_far, events, 3);
  }
  EXPECT_EQ(told, "");
  const Events events = ReadTrace(path);
  // Passes within their Compile.
  const Events compile = SpansOf(events, "compile");
  const Events fuse = Named(compile, "fuse");
  ASSERT_THAT(fuse, SizeIs(1));
  for (const char* pass : {"verify", "choose kernels and layouts", "emit"}) {
    EXPECT_THAT(Named(compile, pass), SizeIs(1)) << pass;
  }
  EXPECT_TRUE(
      std::any_of(compile.begin(), compile.end(), [&](const TraceEvent& event) {
        return event.name.find("Compile ") == 0 && IsWithin(fuse[0], event);
      }));
  const auto built = [](const TraceEvent& event) {
    return event.name.find("program ") == 0 &&
           event.arguments.value("from", "") == "source";
  };
  const Events builds = SpansOf(events, "build");
  EXPECT_TRUE(std::any_of(builds.begin(), builds.end(), built));
  EXPECT_THAT(SpansOf(events, "cache"), Not(IsEmpty()));
  EXPECT_THAT(SpansOf(events, "callback"), SizeIs(1));
  EXPECT_THAT(SpansOf(events, "wait"), Not(IsEmpty()));
  EXPECT_THAT(SpansOf(events, "chain"), SizeIs(AnyOf(0, ::testing::Ge(3))));
  // Host steps are measured, kernels of chains are not.
  const Events host = SpansOf(events, "host");
  ASSERT_THAT(host, SizeIs(3));
  for (const TraceEvent& event : host) {
    EXPECT_FALSE(event.arguments.contains("estimated"));
    EXPECT_GT(event.end, event.begin);
    EXPECT_THAT(event.name, HasSubstr("'on_host' tim.Sigmoid@1"));
  }
  const Events kernels = SpansOf(events, "kernel");
  EXPECT_GE(kernels.size(), 9u);
  const auto estimated = std::count_if(
      kernels.begin(), kernels.end(), [](const TraceEvent& event) {
        return event.arguments.value("estimated", false);
      });
  EXPECT_GE(estimated, 3 * chained);
  // A row of the queue, where the graph is around its kernels.
  for (const TraceEvent& kernel : kernels) {
    const Events queue = SpansOf(events, "queue");
    EXPECT_TRUE(std::any_of(queue.begin(), queue.end(), [&](const auto& graph) {
      return IsWithin(kernel, graph);
    })) << kernel.name;
  }
}

// A run that the device does by itself: whoever waits tells of it.
TEST(Trace, TellsOfRunsInFlight) {
  const std::string path = PathOf("flight");
  ASSERT_OK(StartTrace(path));
  ReluGraph relu({16}, HostContext()->CreateGraph());
  const auto context = ContextOn("opencl");
  if (context == nullptr) {
    StopTrace();
    GTEST_SKIP() << "no OpenCL device";
  }
  ReluGraph on_device({16}, context->CreateGraph());
  std::vector<std::vector<float>> in(3, std::vector<float>(16, 1));
  std::vector<std::vector<float>> out(3, std::vector<float>(16));
  std::vector<vx::RunEvent> events;
  for (size_t i = 0; i < in.size(); ++i) {
    events.push_back(
        on_device.graph->RunAsync({in[i].data()}, {out[i].data()}));
    ASSERT_TRUE(events.back()) << vx::LastError();
  }
  while (!events[0].Ready()) std::this_thread::yield();
  std::thread other([&] { EXPECT_TRUE(events[1].Wait()); });
  other.join();
  for (const auto& event : events) EXPECT_TRUE(event.Wait());
  ASSERT_TRUE(relu.graph->Run()) << vx::LastError();  // steps of the host alone
  StopTrace();
  const Events found = ReadTrace(path);
  ExpectNested(found);
  EXPECT_THAT(SpansOf(found, "kernel"), SizeIs(3));
  EXPECT_NE(SpansOf(found, "kernel")[0].row, SpansOf(found, "host")[0].row);
  EXPECT_THAT(SpansOf(found, "host"), SizeIs(1));
}

// The shares of a chain are the same in all runs.
TEST(Trace, OpensTheChainsOfTheFirstRuns) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  const std::string path = PathOf("many");
  ASSERT_OK(StartTrace(path));
  ReluGraph relu({16}, context->CreateGraph());
  constexpr size_t kOpened = runtime::RunTrace::kOpenedRuns;
  for (size_t i = 0; i < kOpened + 5; ++i) ASSERT_TRUE(relu.graph->Run());
  StopTrace();
  const Events events = ReadTrace(path);
  ExpectNested(events);
  const size_t chains = SpansOf(events, "chain").size();
  EXPECT_THAT(chains, AnyOf(0u, kOpened + 5));
  EXPECT_THAT(SpansOf(events, "kernel"),
              SizeIs(chains == 0 ? kOpened + 5 : kOpened));
}

// In a process of its own: the variable, and what is there after its end.
TEST(Trace, IsWrittenAtTheEndOfTheProcess) {
  const std::string path = PathOf("process");
  if (IsChild()) {
    static ReluGraph relu;  // destroyed after the trace was written
    ASSERT_TRUE(relu.graph->Run()) << vx::LastError();
    ASSERT_EQ(TraceEnabled(), std::getenv("TIMCL_TRACE") == path);
    return;
  }
  std::filesystem::remove(path);
  const ChildResult child =
      RunAsChild({{"TIMCL_TRACE", path}, {"TIMCL_LOG", "warning"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  const Events events = ReadTrace(path);
  ExpectNested(events);
  EXPECT_THAT(SpansOf(events, "host"), SizeIs(1));
}

TEST(Trace, ThatCannotBeWrittenIsAWarning) {
  if (IsChild()) {
    ReluGraph relu;
    ASSERT_TRUE(relu.graph->Run()) << vx::LastError();
    EXPECT_FALSE(TraceEnabled());
    return;
  }
  const ChildResult child =
      RunAsChild({{"TIMCL_TRACE", "/no/such/folder/trace.json"},
                  {"TIMCL_LOG", "warning"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  const std::string warning =
      "TIMCL_TRACE is ignored: the trace '/no/such/folder/trace.json' cannot "
      "be written: ";
  const size_t first = child.output.find(warning);
  EXPECT_NE(first, std::string::npos) << child.output;
  EXPECT_EQ(child.output.find(warning, first + 1), std::string::npos);
}

}  // namespace
}  // namespace tim::testing
