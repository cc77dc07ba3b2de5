// Sums of observed runs by operation.
#include "runtime/profile.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "device/host/host_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using testing::CompilePlan;
using testing::PlanBuilder;

constexpr int64_t kFloats = 1000;

// "twice" are two steps; the second fails for negative numbers.
std::shared_ptr<const Executable> Build() {
  PlanBuilder plan({device::CreateHostDevice()}, kFloats);
  const int a = plan.Temporary(0);
  const int b = plan.Temporary(0);
  plan.Eval(0, AddTen, plan.Input(), a);
  plan.Eval(
      0,
      [](std::span<const float> from, std::span<float> to) -> Status {
        if (from[0] < 0) return InvalidArgument("negative");
        return AddTen(from, to);
      },
      a, b);
  plan.Copy(0, b, plan.Output());
  plan.plan().steps[0].label = "twice";
  plan.plan().steps[1].label = "twice";
  plan.plan().steps[2].label = "output";
  plan.plan().decisions = {
      {.node = "twice",
       .chosen = "host:eval, 1 us",
       .refused = {"fast: not today"}},
      {.node = "twice", .chosen = "recognized: add twenty", .refused = {}},
      {.node = "unknown", .chosen = "", .refused = {}}};
  plan.plan().notes.work["twice"] = {
      .op = "Add", .operations = 2 * kFloats, .bytes = 16 * kFloats};
  return *CompilePlan(plan);
}

Status RunOn(ObservedRun& run, float value, Profiler& profiler) {
  std::vector<float> input(kFloats, value);
  std::vector<float> output(kFloats);
  const std::vector<PortMemory> in = {PortMemory(input.data())};
  const std::vector<PortMemory> out = {PortMemory(output.data())};
  return run.Run(in, out, nullptr, profiler);
}

TEST(Profile, SumsTheStepsOfAnOperation) {
  const auto executable = Build();
  const auto run = ObservedRun::Create(executable);
  ASSERT_OK(run);
  Profiler profiler(executable);
  EXPECT_EQ(profiler.profile().runs, 0);
  EXPECT_EQ(profiler.profile().operations.size(), 2u);
  ASSERT_OK(RunOn(**run, 1, profiler));
  ASSERT_OK(RunOn(**run, 2, profiler));
  EXPECT_ERROR(RunOn(**run, -20, profiler), "negative");
  const RunProfile profile = profiler.profile();
  EXPECT_EQ(profile.runs, 2);
  EXPECT_EQ(profile.devices, std::vector<std::string>{"host"});
  ASSERT_EQ(profile.reached.size(), 1u);
  EXPECT_FALSE(profile.reached[0].has_value());
  ASSERT_EQ(profile.operations.size(), 2u);
  const OperationProfile& twice = profile.operations[0];
  EXPECT_EQ(twice.name, "twice");
  EXPECT_EQ(twice.op, "Add");
  EXPECT_EQ(twice.kernel, "eval");
  EXPECT_EQ(twice.steps, 2);
  EXPECT_EQ(twice.chosen, "host:eval, 1 us");
  EXPECT_EQ(twice.refused, std::vector<std::string>{"fast: not today"});
  EXPECT_EQ(twice.operations, 2 * kFloats);
  EXPECT_EQ(twice.bytes, 16 * kFloats);
  EXPECT_EQ(twice.clock, StepTime::Clock::kHost);
  // Nothing is noted: bytes are those that the steps read and write.
  const OperationProfile& output = profile.operations[1];
  EXPECT_EQ(output.op, "Copy");
  EXPECT_EQ(output.kernel, "copy");
  EXPECT_EQ(output.steps, 1);
  EXPECT_EQ(output.operations, 0);
  EXPECT_EQ(output.bytes, 8 * kFloats);
  EXPECT_GT(twice.nanoseconds, 0);
  EXPECT_LE(twice.nanoseconds + output.nanoseconds, profile.nanoseconds);
}

}  // namespace
}  // namespace tim::runtime
