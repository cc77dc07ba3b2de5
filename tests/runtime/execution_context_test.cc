#include "runtime/execution_context.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "device/host/host_device.h"
#include "runtime/executable.h"
#include "runtime/state_set.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using testing::BuildEval;
using testing::CompilePlan;
using testing::Devices;
using testing::ExpectRun;
using testing::FakeDevice;
using testing::FakeOptions;
using testing::Floats;
using testing::MakeContext;
using testing::PlanBuilder;
using testing::RunOnce;

// state' = state + 10 on `device`; the output is the state before the run.
void CheckStates(const Devices& devices, int device) {
  PlanBuilder plan(devices, 2);
  const int state = plan.State(device);
  const int read = plan.ReadState(state);
  plan.Input();
  plan.Eval(device, AddTen, read, plan.WriteState(state));
  plan.Copy(device, read, plan.Output());
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  const auto states = StateSet::Create(*executable);
  const auto others = StateSet::Create(*executable);
  ASSERT_OK(context);
  EXPECT_ERROR(RunOnce(**context, {0, 0}), "was given none");
  for (int run = 0; run < 5; ++run) {
    const float before = 10.0f * run;
    ExpectRun(**context, {0, 0}, {before, before}, states->get());
  }
  ExpectRun(**context, {0, 0}, {0, 0}, others->get());
  Floats value(2);
  ASSERT_OK((*states)->Read(0, value.data()));
  EXPECT_EQ(value, (Floats{50, 50}));
}

TEST(ExecutionContext, StatesAreReadBeforeAndWrittenAfterTheRun) {
  const Devices devices = {device::CreateHostDevice(),
                           std::make_shared<FakeDevice>()};
  CheckStates(devices, 0);
  CheckStates(devices, 1);
}

TEST(ExecutionContext, AFailedRunLeavesTheStates) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  const int state = plan.State(0);
  const int in = plan.Input();
  plan.Eval(0, AddTen, in, plan.WriteState(state));
  plan.Eval(
      0,
      [](std::span<const float> from, std::span<float>) -> Status {
        if (from[0] < 0) return InvalidArgument("negative");
        return OkStatus();
      },
      in, plan.Output());
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  const auto states = StateSet::Create(*executable);
  float value = 7;
  ASSERT_OK((*states)->Write(0, &value));
  EXPECT_FALSE(RunOnce(**context, {-1}, states->get()).ok());
  ASSERT_OK((*states)->Read(0, &value));
  EXPECT_EQ(value, 7);
  EXPECT_OK(RunOnce(**context, {1}, states->get()));
  ASSERT_OK((*states)->Read(0, &value));
  EXPECT_EQ(value, 11);
}

TEST(ExecutionContext, StatesOfAnotherExecutableAreRefused) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  plan.Eval(0, AddTen, plan.Input(), plan.Output());
  const auto executable = CompilePlan(plan);
  const auto other = CompilePlan(plan);
  const auto context = ExecutionContext::Create(*executable);
  const auto states = StateSet::Create(*other);
  ASSERT_OK(states);
  EXPECT_ERROR(RunOnce(**context, {1}, states->get()),
               "belong to another executable");
}

// Two fake devices and the host: fork, join on the host, then back.
TEST(ExecutionContext, DevicesWaitForEachOther) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto a = std::make_shared<FakeDevice>(
        FakeOptions{.seed = seed, .max_delay_us = 300});
    const auto b = std::make_shared<FakeDevice>(
        FakeOptions{.seed = seed + 100, .max_delay_us = 300});
    PlanBuilder plan({device::CreateHostDevice(), a, b}, 4);
    const int in = plan.Input();
    const int a_in = plan.Temporary(1);
    const int a_out = plan.Temporary(1);
    const int b_in = plan.Temporary(2);
    const int b_out = plan.Temporary(2);
    const int host_a = plan.Temporary(0);
    const int host_sum = plan.Temporary(0);
    plan.Copy(1, in, a_in);
    plan.Eval(1, AddTen, a_in, a_out);
    const int down = plan.Copy(1, a_out, host_a);
    const int sum = plan.Eval(0, AddTen, host_a, host_sum, {down});
    plan.Copy(2, host_sum, b_in, {sum});
    plan.Eval(2, AddTen, b_in, b_out);
    plan.Copy(2, b_out, plan.Output());
    const auto context = MakeContext(plan);
    ASSERT_OK(context);
    for (float run = 0; run < 5; ++run) {
      ExpectRun(**context, {run, 1, 2, 3}, {run + 30, 31, 32, 33});
    }
  }
}

TEST(ExecutionContext, ContextsRunSideBySide) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 4);
  BuildEval(plan, 1);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto context = ExecutionContext::Create(*executable);
      ASSERT_OK(context);
      const float base = 100.0f * t;
      for (int i = 0; i < 20; ++i) {
        ExpectRun(**context, Floats(4, base + i), Floats(4, base + i + 10));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tim::runtime
