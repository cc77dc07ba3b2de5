// Pools of contexts of a plan with one step, and runs in them.
#ifndef TIM_TESTS_SUPPORT_PLANS_POOL_RUNS_H_
#define TIM_TESTS_SUPPORT_PLANS_POOL_RUNS_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "runtime/context_pool.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::testing {

/// A function, AddTen for one, which a test lets go.
class Gate {
 public:
  FloatFunction Function(FloatFunction function = AddTen) {
    return [this, function = std::move(function)](std::span<const float> in,
                                                  std::span<float> out) {
      Pass();
      return function(in, out);
    };
  }
  void Open() { Set(true); }
  void Close() { Set(false); }

 private:
  void Set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Host memory of a run and its event.
struct InFlight {
  explicit InFlight(Floats values)
      : input(std::move(values)), output(input.size(), -1) {}

  Status Start(runtime::ContextPool& pool,
               std::shared_ptr<runtime::StateSet> states = nullptr,
               std::vector<std::shared_ptr<runtime::RunEvent>> waits = {}) {
    auto made = pool.Enqueue({{input.data()}, {output.data()}},
                             std::move(states), std::move(waits));
    if (!made.ok()) return made.status();
    event = *std::move(made);
    return OkStatus();
  }

  /// By TryEnqueue(); without an event where that gives none.
  Status TryStart(runtime::ContextPool& pool,
                  std::vector<std::shared_ptr<runtime::RunEvent>> after = {},
                  runtime::RunCalls calls = {}) {
    auto made = pool.TryEnqueue({{input.data()}, {output.data()}},
                                std::move(after), std::move(calls));
    if (!made.ok()) return made.status();
    event = *std::move(made);
    return OkStatus();
  }

  Floats input;
  Floats output;
  std::shared_ptr<runtime::RunEvent> event;
};

/// The second device is a fake one; steps of 0 block whoever enqueues.
struct Pool {
  explicit Pool(FloatFunction function = AddTen, int device = 1,
                int max_in_flight = runtime::ContextPool::kMaxInFlight) {
    PlanBuilder plan({device::CreateHostDevice(), fake}, 2);
    BuildEval(plan, device, std::move(function));
    Make(plan, max_in_flight);
  }
  /// On the same fake device as another one.
  Pool(FloatFunction function, std::shared_ptr<FakeDevice> shared)
      : fake(std::move(shared)) {
    PlanBuilder plan({device::CreateHostDevice(), fake}, 2);
    BuildEval(plan, 1, std::move(function));
    Make(plan, runtime::ContextPool::kMaxInFlight);
  }
  void Make(PlanBuilder& plan, int max_in_flight) {
    auto compiled = CompilePlan(plan);
    EXPECT_OK(compiled);
    executable = *std::move(compiled);
    auto first = runtime::ExecutionContext::Create(executable);
    EXPECT_OK(first);
    pool = runtime::ContextPool::Create(executable, *std::move(first),
                                        max_in_flight);
  }
  Floats Run(const Floats& input) {
    Floats output(input.size());
    const runtime::PortMemory inputs[] = {input.data()};
    const runtime::PortMemory outputs[] = {output.data()};
    EXPECT_OK(pool->Run(inputs, outputs, nullptr));
    return output;
  }

  /// So many contexts that are free, of a pool whose function waits for the
  /// gate, which is closed before and after.
  void MakeContexts(int count, Gate& gate) const {
    std::vector<InFlight> runs(count, InFlight({0, 0}));
    for (InFlight& run : runs) EXPECT_OK(run.Start(*pool));
    gate.Open();
    pool->Drain();
    gate.Close();
    EXPECT_EQ(pool->contexts(), count);
  }

  std::shared_ptr<FakeDevice> fake =
      std::make_shared<FakeDevice>(FakeOptions{.max_delay_us = 20});
  std::shared_ptr<const runtime::Executable> executable;
  std::unique_ptr<runtime::ContextPool> pool;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PLANS_POOL_RUNS_H_
