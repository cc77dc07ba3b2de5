// What runs take from the memory pools of their devices.
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/options.h"
#include "device/device_pools.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "runtime/ended_run.h"
#include "runtime/execution_context.h"
#include "runtime/inside_run.h"
#include "runtime/shared_arenas.h"
#include "runtime/state_set.h"
#include "runtime/transfer.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/kernels/user_kernel.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using device::Device;
using device::PoolStats;
using ir::MemoryKind;
using testing::BuildEval;
using testing::CompilePlan;
using testing::Devices;
using testing::ExpectRun;
using testing::FakeDevice;
using testing::FakeOptions;
using testing::FloatLaunch;
using testing::Floats;
using testing::PlanBuilder;
using testing::RunOnce;
using testing::UserKernel;

constexpr int64_t kFloats = 4;
constexpr int64_t kMiB = 1 << 20;

constexpr char kKernels[] =
    "__kernel void sum(__global const float* a, int a_0,\n"
    "                  __global float* b, int b_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) b[b_0 + i] += a[a_0 + i];\n"
    "}\n";

/// sum += in.
FakeOptions WithSum() {
  FakeOptions options{.max_delay_us = 20};
  options.kernels["sum"] = [](std::span<std::byte* const> operands) {
    const auto* in = reinterpret_cast<const float*>(operands[0]);
    auto* sum = reinterpret_cast<float*>(operands[1]);
    for (int64_t i = 0; i < kFloats; ++i) sum[i] += in[i];
  };
  return options;
}

PoolStats StatsOf(Device& device) {
  return device.pools().Of(MemoryKind::kDevice).stats();
}

// What the next range of the pool holds is not zero, and it does not lie at the
// chunk's first byte as long as the result lives.
device::PoolRange MakeDirty(Device& device) {
  auto& pool = device.pools().Of(MemoryKind::kDevice);
  auto first = pool.Allocate(1, nullptr);
  EXPECT_OK(first);
  constexpr int64_t kBytes = kMiB;
  const auto dirty = pool.Allocate(kBytes, nullptr);
  EXPECT_OK(dirty);
  const std::vector<std::byte> bytes(kBytes, std::byte{0x41});
  const auto stream = *device.CreateStream();
  EXPECT_OK(Upload(*stream, bytes.data(), kBytes, dirty->buffer()));
  return *std::move(first);
}

// The output is the sum of all inputs since the arenas were zeros.
void BuildSum(PlanBuilder& plan) {
  const int in = plan.Temporary(1);
  const int sum = plan.Temporary(1);
  plan.Copy(1, plan.Input(), in);
  plan.Launch(1, FloatLaunch(kKernels, "sum", kFloats, 2), {in, sum});
  plan.Copy(1, sum, plan.Output());
}

// state1 = state0; state 0 is only read.
void BuildStates(PlanBuilder& plan) {
  plan.State(1);
  const int written = plan.State(1);
  plan.Copy(1, plan.ReadState(0), plan.WriteState(written));
}

class OnDevice : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "fake") {
      device_ = std::make_shared<FakeDevice>(WithSum());
    } else if (device::CountOpenClDevices() > 0) {
      device_ = *device::CreateOpenClDevice(0, GetOptions().on_device);
    } else {
      GTEST_SKIP() << "no OpenCL device";
    }
    devices_ = {device::CreateHostDevice(), device_};
  }
  std::shared_ptr<Device> device_;
  Devices devices_;
};

TEST_P(OnDevice, StatesLieInThePoolAndBeginWithZeros) {
  const auto wall = MakeDirty(*device_);
  const PoolStats before = StatsOf(*device_);
  PlanBuilder plan(devices_, kFloats);
  BuildStates(plan);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  for (int i = 0; i < 2; ++i) {
    const auto states = StateSet::Create(*executable);
    ASSERT_OK(states);
    EXPECT_EQ(StatsOf(*device_).in_use,
              before.in_use + 3 * device_->info().alignment);
    Floats values(kFloats, -1);
    for (const int state : {0, 1, 1}) {
      ASSERT_OK((*states)->Read(state, values.data()));
      EXPECT_EQ(values, Floats(kFloats, 0));
      values = Floats(kFloats, 7);
      ASSERT_OK((*states)->Write(state, values.data()));
      (*states)->Advance();
    }
  }
  const PoolStats after = StatsOf(*device_);
  EXPECT_EQ(after.in_use, before.in_use);
  EXPECT_EQ(after.raw_calls, before.raw_calls);
}

// The first use of the kernels wants zeros; runs find memory of any content.
TEST_P(OnDevice, OnlyTheFirstArenasBeginWithZeros) {
  PlanBuilder plan(devices_, kFloats);
  BuildSum(plan);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto first = ExecutionContext::Create(*executable);
  ASSERT_OK(first);
  EXPECT_EQ(StatsOf(*device_).in_use, 0) << "the first has its own";
  ExpectRun(**first, {1, 2, 3, 4}, {1, 2, 3, 4});
  const auto wall = MakeDirty(*device_);
  const auto dirty = std::bit_cast<float>(0x41414141);
  const PoolStats before = StatsOf(*device_);
  {
    const auto context = ExecutionContext::CreateAnother(*executable);
    ASSERT_OK(context);
    EXPECT_EQ(StatsOf(*device_).in_use,
              before.in_use + 2 * device_->info().alignment);
    ExpectRun(**context, {1, 2, 3, 4},
              {dirty + 1, dirty + 2, dirty + 3, dirty + 4});
  }
  EXPECT_EQ(StatsOf(*device_).in_use, before.in_use);
  EXPECT_EQ(StatsOf(*device_).raw_calls, before.raw_calls);
}

TEST_P(OnDevice, WithoutGraphsAllOfItGoesBack) {
  {
    PlanBuilder plan(devices_, kFloats);
    BuildStates(plan);
    PlanBuilder other(devices_, kFloats);
    BuildSum(other);
    const auto with_states = CompilePlan(plan);
    const auto without = CompilePlan(other);
    ASSERT_OK(with_states);
    ASSERT_OK(without);
    const auto states = StateSet::Create(*with_states);
    const auto context = ExecutionContext::CreateAnother(*without);
    ASSERT_OK(context);
    ASSERT_OK(RunOnce(**context, {1, 2, 3, 4}));
    EXPECT_EQ(StatsOf(*device_).raw_calls, 1) << "one pool for both graphs";
    EXPECT_EQ(device_->pools().Trim(0), 0);
  }
  EXPECT_EQ(StatsOf(*device_).in_use, 0);
  EXPECT_EQ(device_->pools().Trim(0), 2 * kMiB);
  EXPECT_EQ(StatsOf(*device_).reserved, 0);
}

INSTANTIATE_TEST_SUITE_P(PooledMemory, OnDevice,
                         ::testing::Values("fake", "opencl"),
                         [](const auto& info) { return info.param; });

// What stands for a state while kernels are launched for the first time.
TEST(PooledMemory, ScratchIsGivenBack) {
  const auto fake = std::make_shared<FakeDevice>(WithSum());
  PlanBuilder plan({device::CreateHostDevice(), fake}, kFloats);
  const int state = plan.State(1);
  const int sum = plan.Temporary(1);
  plan.Launch(1, FloatLaunch(kKernels, "sum", kFloats, 2),
              {plan.ReadState(state), sum});
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  ASSERT_OK(ExecutionContext::Create(*executable));
  PoolStats stats = StatsOf(*fake);
  EXPECT_EQ(stats.allocations, 1);
  EXPECT_EQ(stats.peak_in_use, 64);
  EXPECT_EQ(stats.reserved, 0) << "the first use is the only one";
  {
    const auto context = ExecutionContext::CreateAnother(*executable);
    ASSERT_OK(context);
    EXPECT_EQ(StatsOf(*fake).allocations, 2) << "arenas alone";
    EXPECT_EQ(StatsOf(*fake).in_use, 64);
  }
  EXPECT_EQ(StatsOf(*fake).in_use, 0);
  EXPECT_GT(StatsOf(*fake).reserved, 0);
}

// Its arenas are another's from the moment on.
TEST(PooledMemory, AContextWaitsForItsRunBeforeItGivesThemBack) {
  const auto fake =
      std::make_shared<FakeDevice>(FakeOptions{.max_delay_us = 2000});
  PlanBuilder plan({device::CreateHostDevice(), fake}, kFloats);
  BuildEval(plan, 1);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const Floats input = {1, 2, 3, 4};
  Floats output(kFloats, -1);
  const PortMemory inputs[] = {input.data()};
  const PortMemory outputs[] = {output.data()};
  {
    const auto context = ExecutionContext::CreateAnother(*executable);
    ASSERT_OK(context);
    ASSERT_OK((*context)->Enqueue(inputs, outputs, nullptr));
  }
  EXPECT_EQ(output, (Floats{11, 12, 13, 14}));
  EXPECT_EQ(StatsOf(*fake).in_use, 0);
}

TEST(PooledMemory, WhatIsFreeThereMakesRoomForArenasAndConstants) {
  const auto fake =
      std::make_shared<FakeDevice>(FakeOptions{.memory_bytes = 4 * kMiB});
  const auto use = [&](int64_t bytes) {
    ASSERT_OK(fake->pools().Of(MemoryKind::kDevice).Allocate(bytes, nullptr));
  };
  constexpr int64_t kLarge = kMiB / 4;  // floats of a MiB
  PlanBuilder plan({device::CreateHostDevice(), fake}, kLarge);
  BuildEval(plan, 1);
  plan.Constant(1, Floats(2 * kLarge, 1));
  use(3 * kMiB);
  EXPECT_EQ(fake->live_bytes(), 3 * kMiB);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  EXPECT_EQ(fake->live_bytes(), 2 * kMiB);
  use(2 * kMiB);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  EXPECT_EQ(fake->live_bytes(), 4 * kMiB);
}

// Pointers of a user's kernel begin where the operand does.
TEST(PooledMemory, UsersKernelsWorkThere) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto opencl = *device::CreateOpenClDevice(0, GetOptions().on_device);
  const auto wall = MakeDirty(*opencl);
  PlanBuilder plan({device::CreateHostDevice(), opencl}, kFloats);
  UserKernel kernel(
      "__kernel void f(__global const float* in, __global float* out) {\n"
      "  const int i = get_global_id(0);\n"
      "  out[i] = 2 * in[i];\n"
      "}\n");
  kernel.In(ir::DataType::kFloat32, {kFloats}, Floats(kFloats));
  kernel.Out(ir::DataType::kFloat32, {kFloats}).Sizes({kFloats});
  const int in = plan.Temporary(1);
  const int middle = plan.Temporary(1);
  const int out = plan.Temporary(1);
  plan.Copy(1, plan.Input(), in);
  plan.Launch(1, kernel.launch(), {in, middle});
  plan.Launch(1, kernel.launch(), {middle, out});
  plan.Copy(1, out, plan.Output());
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::CreateAnother(*executable);
  ASSERT_OK(context);
  ExpectRun(**context, {1, 2, 3, 4}, {4, 8, 12, 16});
}

// Arenas of runs of plans with one arena, on a device that has no memory.
class SharedArenasOfAFullDevice : public ::testing::Test {
 protected:
  using Ends = SharedArenas::Ends;
  using Lease = std::unique_ptr<SharedArenas::Lease>;

  SharedArenasOfAFullDevice() {
    plan_.graph = "small";
    plan_.arenas = {{.device = 1, .bytes = 128}};
    first_ = TakeFirst();
    fake_->FailAllocationsAfter(0);
  }
  Lease TakeFirst() {
    auto taken = arenas_->Take(plan_);
    EXPECT_OK(taken);
    return *std::move(taken);
  }

  std::shared_ptr<FakeDevice> fake_ = std::make_shared<FakeDevice>();
  std::shared_ptr<SharedArenas> arenas_ = std::make_shared<SharedArenas>(
      Devices{device::CreateHostDevice(), fake_});
  ir::Plan plan_;
  Lease first_;
};

TEST_F(SharedArenasOfAFullDevice, AreThoseThatComeBack) {
  auto none = arenas_->TryTake(plan_);
  ASSERT_OK(none);
  EXPECT_EQ(*none, nullptr);
  const void* const buffer = first_->arenas()[0].range.buffer;
  std::thread returns([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    first_.reset();
  });
  const Lease second = TakeFirst();
  returns.join();
  EXPECT_EQ(second->arenas()[0].range.buffer, buffer);
}

TEST_F(SharedArenasOfAFullDevice, AreWaitedForOnceTheirRunIsKnown) {
  class Run final : public RunEvent {
   public:
    explicit Run(Lease* lease) : lease_(lease) {}
    Status Wait() override {
      lease_->reset();
      return OkStatus();
    }
    bool Ready() override { return false; }
    void Then(Call) override {}

   private:
    Lease* const lease_;
  };
  const auto run = std::make_shared<Run>(&first_);
  std::thread sets([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    first_->SetRun(run, Ends::kWhenAwaited);
  });
  EXPECT_NE(TakeFirst(), nullptr);
  sets.join();
}

TEST_F(SharedArenasOfAFullDevice, FailWhereNoOtherRunHasSome) {
  const auto run = std::make_shared<EndedRun>(OkStatus());
  first_->SetRun(run, Ends::kByItself);
  {
    const InsideRun inside({.event = run.get()});
    EXPECT_ERROR(arenas_->Take(plan_),
                 "an arena of 128 bytes for graph 'small'");
  }
  first_->SetRun(run, Ends::kByClients);  // they may wait for this thread
  EXPECT_ERROR(arenas_->Take(plan_), "an arena of 128 bytes");
  first_.reset();
  plan_.arenas[0].bytes = 256;
  EXPECT_ERROR(arenas_->TryTake(plan_), "an arena of 256 bytes");
}

// Free arenas that are too small make room for a larger one.
TEST_F(SharedArenasOfAFullDevice, TakeThePlaceOfAllThatAreFree) {
  FakeOptions options;
  options.memory_bytes = 1024;
  const auto arenas = std::make_shared<SharedArenas>(Devices{
      device::CreateHostDevice(), std::make_shared<FakeDevice>(options)});
  plan_.arenas[0].bytes = 256;
  {
    const auto one = arenas->Take(plan_);
    ASSERT_OK(one);
    const auto other = arenas->Take(plan_);
    ASSERT_OK(other);
  }
  EXPECT_EQ(arenas->bytes(), 512);
  plan_.arenas[0].bytes = 1024;
  EXPECT_OK(arenas->Take(plan_));
  EXPECT_EQ(arenas->bytes(), 1024);
}

}  // namespace
}  // namespace tim::runtime
