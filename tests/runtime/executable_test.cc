#include "runtime/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "device/host/host_device.h"
#include "runtime/execution_context.h"
#include "runtime/stored_plan.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::AddTen;
using testing::BuildEval;
using testing::CompilePlan;
using testing::CountingDevice;
using testing::ExpectRun;
using testing::FakeDevice;
using testing::FakeOptions;
using testing::FloatLaunch;
using testing::Floats;
using ::testing::HasSubstr;
using testing::MakeContext;
using testing::PlanBuilder;
using testing::RunOnce;

TEST(Executable, RunsOnTheHostInTheCallersMemory) {
  PlanBuilder plan({device::CreateHostDevice()}, 3);
  plan.Eval(0, AddTen, plan.Input(), plan.Output());
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  ExpectRun(**context, {1, 2, 3}, {11, 12, 13});
  ExpectRun(**context, {4, 5, 6}, {14, 15, 16});
}

TEST(Executable, WaitsForAnAsynchronousDevice) {
  const auto fake =
      std::make_shared<FakeDevice>(FakeOptions{.max_delay_us = 1000});
  PlanBuilder plan({device::CreateHostDevice(), fake}, 3);
  BuildEval(plan, 1);
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  EXPECT_EQ(fake->steps_run(), 0);
  ExpectRun(**context, {1, 2, 3}, {11, 12, 13});
  ExpectRun(**context, {4, 5, 6}, {14, 15, 16});
}

TEST(Executable, ChecksItsArguments) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  plan.Eval(0, AddTen, plan.Input(), plan.Output());
  EXPECT_ERROR(Executable::Create(plan.plan(), {}, nullptr),
               "the plan is for 1 devices, found 0");
  EXPECT_ERROR(Executable::Create(plan.plan(), {std::make_shared<FakeDevice>()},
                                  nullptr),
               "device 0 of the plan is of kind 'host', found 'fake'");
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  float value = 0;
  const void* const inputs[] = {nullptr};
  void* const outputs[] = {&value};
  EXPECT_ERROR((*context)->Run({}, outputs, nullptr),
               "has 1 inputs and 1 outputs, a run was given 0 and 1");
  EXPECT_ERROR((*context)->Run(inputs, outputs, nullptr),
               "graph 'test graph': input 0 'input0' has no memory");
}

TEST(Executable, AnErrorOfARunDoesNotLatch) {
  const auto fake = std::make_shared<FakeDevice>();
  const auto refuse_negative = [](std::span<const float> in,
                                  std::span<float> out) -> Status {
    if (in[0] < 0) return InvalidArgument("a negative value");
    return AddTen(in, out);
  };
  for (const int device : {0, 1}) {
    PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
    BuildEval(plan, device, refuse_negative);
    const auto context = MakeContext(plan);
    ASSERT_OK(context);
    EXPECT_ERROR(RunOnce(**context, {-1}), "a negative value");
    ExpectRun(**context, {1}, {11});
  }
}

TEST(Executable, AStepThatFailsAtOnceIsNamed) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  plan.Eval(
      0,
      [](std::span<const float>, std::span<float>) {
        return Unimplemented("not today");
      },
      plan.Input(), plan.Output());
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  EXPECT_ERROR(RunOnce(**context, {1}), "step 'step0': eval: not today");
}

TEST(Executable, DeviceLossLatchesInTheContext) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
  BuildEval(plan, 1);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  EXPECT_OK(RunOnce(**context, {1}));
  fake->LoseAtStep(1);
  EXPECT_EQ(RunOnce(**context, {1}).status().code(), StatusCode::kDeviceLost);
  fake->ResetLost();
  EXPECT_EQ(RunOnce(**context, {1}).status().code(), StatusCode::kDeviceLost);
  const auto again = ExecutionContext::Create(*executable);
  ASSERT_OK(again);
  ExpectRun(**again, {1}, {11});
}

TEST(Executable, OutOfMemoryIsAnErrorAndLeavesNothing) {
  const auto fake =
      std::make_shared<FakeDevice>(FakeOptions{.memory_bytes = 200});
  PlanBuilder plan({device::CreateHostDevice(), fake}, 32);
  BuildEval(plan, 1);
  const auto context = MakeContext(plan);
  EXPECT_EQ(context.status().code(), StatusCode::kOutOfMemory);
  EXPECT_ERROR(context, "an arena of 256 bytes for graph 'test graph'");
  EXPECT_EQ(fake->live_bytes(), 0);

  PlanBuilder constant({device::CreateHostDevice(), fake}, 64);
  constant.Constant(1, Floats(64, 1));
  EXPECT_ERROR(CompilePlan(constant), "constant 0");
  EXPECT_EQ(fake->live_bytes(), 0);
}

TEST(Executable, AFailedBuildLeavesTheDeviceUsable) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
  BuildEval(plan, 1);
  fake->FailNextPrepare();
  EXPECT_EQ(CompilePlan(plan).status().code(), StatusCode::kBuildFailure);
  EXPECT_OK(CompilePlan(plan));
}

TEST(Executable, StepsArePreparedOncePerContext) {
  const auto device =
      std::make_shared<CountingDevice>(std::make_shared<FakeDevice>());
  PlanBuilder plan({device::CreateHostDevice(), device}, 3);
  BuildEval(plan, 1);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  EXPECT_EQ(device->prepares(), 1);
  const int steps = device->steps();
  EXPECT_EQ(steps, 3);
  for (int contexts = 1; contexts <= 3; ++contexts) {
    const auto context = ExecutionContext::Create(*executable);
    ASSERT_OK(context);
    ExpectRun(**context, {1, 2, 3}, {11, 12, 13});
    EXPECT_EQ(device->prepares(), contexts);
    EXPECT_EQ(device->steps(), contexts * steps);
  }
}

TEST(Executable, AContextThatCannotBeMadeLeavesThePreparedSteps) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan({device::CreateHostDevice(), fake}, 3);
  BuildEval(plan, 1);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  fake->FailAllocationsAfter(0);
  EXPECT_EQ(ExecutionContext::Create(*executable).status().code(),
            StatusCode::kOutOfMemory);
  fake->FailAllocationsAfter(1 << 30);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  ExpectRun(**context, {1, 2, 3}, {11, 12, 13});
  EXPECT_EQ(fake->prepares(), 1);
}

// Programs are told of while steps are prepared, not asked for by preparing
// them again.
TEST(Executable, ItsProgramsAreThoseOfItsSteps) {
  const auto copy = [](std::span<std::byte* const> operands) {
    std::copy_n(operands[0], 4, operands[1]);
  };
  const auto device =
      std::make_shared<CountingDevice>(std::make_shared<FakeDevice>(FakeOptions{
          .kernels = {{"first", copy}, {"second", copy}, {"other", copy}}}));
  PlanBuilder plan({device::CreateHostDevice(), device}, 1);
  const int a = plan.Temporary(1);
  const int b = plan.Temporary(1);
  const int c = plan.Temporary(1);
  plan.Copy(1, plan.Input(), a);
  plan.Launch(1, FloatLaunch("", "first", 1, 2), {a, b});
  plan.Launch(1, FloatLaunch("", "second", 1, 2), {b, c});
  plan.Copy(1, c, plan.Output());
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const binary::Programs expected = {{"first", "binary of first"},
                                     {"second", "binary of second"}};
  for (int contexts = 0; contexts <= 2; ++contexts) {
    EXPECT_EQ(ProgramsOf(**executable), expected);
    EXPECT_EQ(device->prepares(), std::max(contexts, 1));
    ASSERT_OK(ExecutionContext::Create(*executable));
  }
}

// Fails to make chains.
class FailingChains final : public testing::ForwardingDevice {
 public:
  explicit FailingChains(StatusCode code)
      : ForwardingDevice(std::make_shared<FakeDevice>()), code_(code) {}
  Result<std::unique_ptr<device::PreparedStep>> PrepareChain(
      std::span<const device::ChainLink>, device::BinaryStore&) override {
    ++attempts_;
    return Status(code_, "told to fail");
  }
  int attempts() const { return attempts_; }

 private:
  const StatusCode code_;
  int attempts_ = 0;
};

// in + 10 as often as said, on device 1, in one chain.
PlanBuilder TensPlan(const std::shared_ptr<device::Device>& device, int tens) {
  PlanBuilder plan({device::CreateHostDevice(), device}, 2);
  int value = plan.Temporary(1);
  plan.Copy(1, plan.Input(), value);
  for (int i = 0; i < tens; ++i) {
    const int next = plan.Temporary(1);
    plan.Eval(1, AddTen, value, next);
    value = next;
  }
  plan.Copy(1, value, plan.Output());
  plan.plan().chains = {{.first = 1, .count = tens}};
  return plan;
}

TEST(Executable, AChainThatCannotBeMadeIsRunStepByStep) {
  for (const StatusCode code :
       {StatusCode::kBuildFailure, StatusCode::kOutOfMemory,
        StatusCode::kUnimplemented}) {
    const auto fake = std::make_shared<FailingChains>(code);
    PlanBuilder plan = TensPlan(fake, 3);
    ::testing::internal::CaptureStderr();
    const auto executable = CompilePlan(plan);
    const std::string log = ::testing::internal::GetCapturedStderr();
    ASSERT_OK(executable);
    EXPECT_THAT(log, HasSubstr("[warning] graph 'test graph': fake device "
                               "cannot run 3 steps from 'step1'"));
    EXPECT_THAT(log, HasSubstr("told to fail"));
    for (int contexts = 0; contexts < 2; ++contexts) {
      const auto context = ExecutionContext::Create(*executable);
      ASSERT_OK(context);
      ExpectRun(**context, {1, 2}, {31, 32});
      ExpectRun(**context, {3, 4}, {33, 34});
    }
    // Not again for each context.
    EXPECT_EQ(fake->attempts(), 1);
  }
}

TEST(Executable, AChainOfOneStepThatCannotBeMadeIsThatStep) {
  const auto fake = std::make_shared<FailingChains>(StatusCode::kBuildFailure);
  PlanBuilder plan({device::CreateHostDevice(), fake}, 1);
  const int state = plan.State(1);
  plan.Eval(1, AddTen, plan.ReadState(state), plan.WriteState(state));
  plan.plan().chains = {{.first = 0, .count = 1}};
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  const auto states = StateSet::Create(*executable);
  ASSERT_OK(states);
  ASSERT_OK((*context)->Run(std::span<const PortMemory>(), {}, states->get()));
  ASSERT_OK((*context)->Run(std::span<const PortMemory>(), {}, states->get()));
  float value = 0;
  ASSERT_OK((*states)->Read(0, &value));
  EXPECT_EQ(value, 20);
  EXPECT_EQ(fake->attempts(), 1);
}

TEST(Executable, AChainOfALostDeviceIsAFailure) {
  const auto fake = std::make_shared<FailingChains>(StatusCode::kDeviceLost);
  PlanBuilder plan = TensPlan(fake, 3);
  EXPECT_EQ(CompilePlan(plan).status().code(), StatusCode::kDeviceLost);
}

}  // namespace
}  // namespace tim::runtime
