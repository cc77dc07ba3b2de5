// Functions that runs call and that start runs themselves.
#include "runtime/inside_run.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "device/host/host_buffer.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "ops/builtin.h"
#include "runtime/cache/program_cache.h"
#include "runtime/compile_options.h"
#include "runtime/compiled_graph.h"
#include "tests/support/plans/pool_runs.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using testing::Floats;
using testing::InFlight;
using testing::PlanBuilder;
using testing::Pool;

// The function runs its own plan for 1 less, down to 0.
TEST(InsideRun, FunctionsRunTheirOwnPlan) {
  for (const bool asynchronous : {false, true}) {
    SCOPED_TRACE(asynchronous);
    ContextPool* own = nullptr;
    const Pool pool(
        [&](std::span<const float> in, std::span<float> out) -> Status {
          out[0] = out[1] = 0;
          if (in[0] == 0) return OkStatus();
          InFlight inner({in[0] - 1, 0});
          Status status;
          if (asynchronous) {
            status = inner.Start(*own);
            if (status.ok()) status = inner.event->Wait();
          } else {
            const PortMemory inputs[] = {inner.input.data()};
            const PortMemory outputs[] = {inner.output.data()};
            status = own->Run(inputs, outputs, nullptr);
          }
          out[0] = inner.output[0] + 1;
          own->Drain();  // waits for none of those around it
          return status;
        },
        0);
    own = pool.pool.get();
    InFlight run({20, 0});
    ASSERT_OK(run.Start(*own));
    EXPECT_OK(run.event->Wait());
    EXPECT_EQ(run.output, (Floats{20, 0}));
    InFlight deep({1000, 0});
    ASSERT_OK(deep.Start(*own));
    EXPECT_ERROR(deep.event->Wait(), "inside a holder");
  }
}

// The function has the states of the run that calls it.
TEST(InsideRun, RunsOfTheStatesOfTheRunAroundThemAreRefused) {
  Pool pool;
  std::shared_ptr<StateSet> states;
  Status enqueued;
  Status run;
  Status read;
  PlanBuilder plan({device::CreateHostDevice(), pool.fake}, 2);
  const int state = plan.State(0);
  const int value = plan.ReadState(state);
  plan.Input();
  plan.Eval(
      0,
      [&](std::span<const float> in, std::span<float> out) {
        InFlight inner({0, 0});
        enqueued = inner.Start(*pool.pool, states);
        const PortMemory inputs[] = {inner.input.data()};
        const PortMemory outputs[] = {inner.output.data()};
        run = pool.pool->Run(inputs, outputs, states.get());
        Floats content(2);
        read = states->Read(0, content.data());
        return AddTen(in, out);
      },
      value, plan.WriteState(state));
  plan.Copy(0, value, plan.Output());
  pool.Make(plan, ContextPool::kMaxInFlight);
  auto made = StateSet::Create(pool.executable);
  ASSERT_OK(made);
  states = *std::move(made);
  for (const bool asynchronous : {false, true}) {
    SCOPED_TRACE(asynchronous);
    InFlight outer({0, 0});
    if (asynchronous) {
      ASSERT_OK(outer.Start(*pool.pool, states));
      EXPECT_OK(outer.event->Wait());
      EXPECT_ERROR(read, "its states are free only after");
    } else {
      const PortMemory inputs[] = {outer.input.data()};
      const PortMemory outputs[] = {outer.output.data()};
      EXPECT_OK(pool.pool->Run(inputs, outputs, states.get()));
    }
    EXPECT_EQ(enqueued.code(), StatusCode::kFailedPrecondition);
    EXPECT_ERROR(enqueued, "a run of the same states starts only after");
    EXPECT_ERROR(run, "a run of the same states starts only after");
  }
  Floats content(2);
  ASSERT_OK(states->Read(0, content.data()));
  EXPECT_EQ(content, (Floats{20, 20}));
}

// The function lets go of memory of its own run, whose next step reads it.
TEST(InsideRun, MemoryStaysUntilTheRunHasEnded) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
  ASSERT_OK(opencl);
  if (!(*opencl)->info().unified_memory) GTEST_SKIP() << "memory of its own";
  alignas(device::kHostAlignment) const float imported[] = {1, 2};
  Pool pool;
  PlanBuilder plan({device::CreateHostDevice(), *opencl}, 2);
  const int input = plan.Input();
  const int called = plan.Eval(
      0,
      [&](std::span<const float> in, std::span<float> out) {
        pool.pool->Release(imported);
        return AddTen(in, out);
      },
      input, plan.Temporary(0));
  const int read = plan.Input();
  plan.plan().slots[read].device = 1;
  plan.Copy(1, read, plan.Output(), {called});
  pool.Make(plan, ContextPool::kMaxInFlight);
  Floats first = {0, 0};
  for (int i = 0; i < 2; ++i) {
    Floats output = {0, 0};
    const PortMemory inputs[] = {first.data(), imported};
    const PortMemory outputs[] = {output.data()};
    ASSERT_OK(pool.pool->Run(inputs, outputs, nullptr));
    EXPECT_EQ(output, (Floats{1, 2}));
  }
}

using Function = std::function<Status(float x, float* y)>;

/// A graph of one operator, which calls `function` with one float.
Result<std::unique_ptr<CompiledGraph>> GraphOf(const Function& function) {
  ir::OpSchema schema = *ops::BuiltinOperators().Find("tim.Relu");
  schema.domain = "test";
  schema.pointwise = {};
  schema.eval = [function](const ir::EvalContext& context) {
    return function(*static_cast<const float*>(context.inputs[0].data),
                    static_cast<float*>(context.outputs[0].data));
  };
  const auto registry =
      std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  registry->Add(schema);
  ir::Graph graph("function");
  const ir::TensorDesc desc = testing::FloatDesc(1);
  const ir::ValueId x = graph.AddValue(desc, ir::Role::kInput, "x");
  const ir::ValueId y = graph.AddValue(desc);
  ir::Node node;
  node.name = "function";
  node.schema = registry->Find("test.Relu");
  node.inputs = {x};
  node.outputs = {y};
  graph.AddNode(std::move(node));
  graph.AddInput(x);
  graph.AddOutput(y);
  const device::Devices devices = {device::CreateHostDevice()};
  const compiler::CompileOptions options = CompileOptionsFor(devices);
  TIM_ASSIGN_OR_RETURN(const auto inferred,
                       compiler::Infer(graph, *registry, options));
  return CompiledGraph::Create(inferred, options,
                               {.devices = devices,
                                .store = ProgramCache::Create({}),
                                .operators = registry});
}

class NoObserver : public RunObserver {
  Status AfterStep(const ObservedStep&) override { return OkStatus(); }
};

/// The memory of a run of such a graph.
class OneFloat {
 public:
  explicit OneFloat(float x) : x_(x) {}

  Status Run(CompiledGraph& graph) { return graph.Run(in_, out_); }
  Status RunObserved(CompiledGraph& graph) {
    NoObserver observer;
    return graph.RunObserved(in_, out_, observer);
  }
  Status RunAsync(CompiledGraph& graph) {
    TIM_ASSIGN_OR_RETURN(const auto run, graph.Enqueue(in_, out_));
    return run->Wait();
  }
  float y() const { return y_; }

 private:
  float x_;
  float y_ = -1;
  const std::vector<PortMemory> in_ = {{&x_, sizeof(float)}};
  const std::vector<PortMemory> out_ = {{&y_, sizeof(float)}};
};

// The operator runs its graph for 1 less, down to 0.
TEST(InsideRun, OperatorsRunTheirOwnGraph) {
  std::unique_ptr<CompiledGraph> own;
  Status observed;
  auto made = GraphOf([&](float x, float* y) -> Status {
    observed = OneFloat(x).RunObserved(*own);
    OneFloat less(x - 1);
    if (x > 0) TIM_RETURN_IF_ERROR(less.Run(*own));
    *y = less.y() + 1;
    return OkStatus();
  });
  ASSERT_OK(made);
  own = *std::move(made);
  OneFloat run(20);
  EXPECT_OK(run.Run(*own));
  EXPECT_EQ(run.y(), 20);
  EXPECT_EQ(observed.code(), StatusCode::kFailedPrecondition);
  EXPECT_ERROR(observed, "profiled or dumped");
  OneFloat asynchronous(20);
  EXPECT_OK(asynchronous.RunAsync(*own));
  EXPECT_EQ(asynchronous.y(), 20);
  EXPECT_ERROR(OneFloat(1000).Run(*own), "64 runs of graph");
}

// G's function waits for a run of H, whose function, on another thread, runs G.
TEST(InsideRun, OperatorsRunTheGraphThatWaitsForThem) {
  std::unique_ptr<CompiledGraph> g;
  std::unique_ptr<CompiledGraph> h;
  Status observed;
  auto made = GraphOf([&](float x, float* y) -> Status {
    OneFloat less(x - 1);
    if (x > 0) TIM_RETURN_IF_ERROR(less.RunAsync(*h));
    *y = less.y() + 1;
    return OkStatus();
  });
  ASSERT_OK(made);
  g = *std::move(made);
  made = GraphOf([&](float x, float* y) -> Status {
    observed = OneFloat(x).RunObserved(*g);
    OneFloat same(x);
    const Status status = same.Run(*g);
    *y = same.y();
    return status;
  });
  ASSERT_OK(made);
  h = *std::move(made);
  OneFloat run(3);
  EXPECT_OK(run.Run(*g));
  EXPECT_EQ(run.y(), 3);
  EXPECT_EQ(observed.code(), StatusCode::kFailedPrecondition);
  EXPECT_ERROR(observed, "may wait for that function");
}

}  // namespace
}  // namespace tim::runtime
