// Where the constants of an executable are.
#include "runtime/constant_upload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "base/aligned_memory.h"
#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using testing::CompilePlan;
using testing::Devices;
using testing::EmptyStore;
using testing::ExpectRun;
using testing::FakeDevice;
using testing::FloatLaunch;
using testing::Floats;
using testing::PlanBuilder;

constexpr int64_t kBytes = 1 << 20;

constexpr char kAdd[] =
    "__kernel void add(__global const float* a, int a_0,\n"
    "                  __global const float* b, int b_0,\n"
    "                  __global float* c, int c_0, int n) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < n) c[c_0 + i] = a[a_0 + i] + b[b_0 + i];\n"
    "}\n";

// Constants of two values in one block, each as long as the plan's vectors.
struct TwoConstants {
  explicit TwoConstants(PlanBuilder& plan)
      : first(plan.Constant(1, Block(plan, 1, 2))), second(first + 1) {
    ir::Slot slot = plan.plan().slots[first];
    slot.offset = plan.plan().devices[1].alignment;
    plan.plan().slots.push_back(slot);
  }

  static Floats Block(const PlanBuilder& plan, float a, float b) {
    const int64_t alignment = plan.devices()[1]->info().alignment;
    Floats values(2 * alignment / 4, a);
    std::fill(values.begin() + alignment / 4, values.end(), b);
    return values;
  }

  int first = 0;
  int second = 0;
};

Devices WithFake(std::shared_ptr<FakeDevice> fake) {
  return {device::CreateHostDevice(), std::move(fake)};
}

TEST(UploadConstants, ADeviceWithMemoryOfItsOwnGetsACopyAndThePlanForgets) {
  const auto fake = std::make_shared<FakeDevice>();
  PlanBuilder plan(WithFake(fake), 1);
  plan.Constant(1, Floats(kBytes / 4, 3));
  const int64_t before = CountedMemory();
  const auto executable = Executable::Create(
      std::move(plan.plan()), plan.devices(), std::make_shared<EmptyStore>());
  ASSERT_OK(executable);
  EXPECT_EQ(fake->live_bytes(), kBytes);
  EXPECT_EQ((*executable)->plan().constants[0].data, nullptr);
  EXPECT_EQ((*executable)->plan().constants[0].bytes, kBytes);
  EXPECT_EQ(CountedMemory(), before - kBytes);
}

TEST(UploadConstants, TheHostReadsThemInPlace) {
  PlanBuilder plan({device::CreateHostDevice()}, 1);
  plan.Constant(0, {1, 2});
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  EXPECT_EQ((*executable)->constant(0).host_address(),
            plan.plan().constants[0].data.get());
}

TEST(UploadConstants, ConstantsOfABlockAreRangesOfItsBuffer) {
  PlanBuilder plan(WithFake(std::make_shared<FakeDevice>()), 2);
  const TwoConstants constants(plan);
  plan.Input();
  plan.Copy(1, constants.second, plan.Output());
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  ExpectRun(**context, {0, 0}, {2, 2});
}

class OpenClConstants : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
    devices_ = {device::CreateHostDevice(),
                *device::CreateOpenClDevice(0, GetOptions().on_device)};
  }
  bool IsUnified() const { return devices_[1]->info().unified_memory; }

  // output = input + constant
  void BuildSum(PlanBuilder& plan, int constant) {
    const int in = plan.Temporary(1);
    const int out = plan.Temporary(1);
    plan.Copy(1, plan.Input(), in);
    plan.Launch(1, FloatLaunch(kAdd, "add", plan.floats(), 3),
                {in, constant, out});
    plan.Copy(1, out, plan.Output());
  }

  Devices devices_;
};

TEST_F(OpenClConstants, AreReadWhereTheyAreOrNowhereElse) {
  PlanBuilder plan(devices_, 1);
  plan.Constant(1, Floats(kBytes / 4, 3));
  const int64_t before = CountedMemory();
  const auto executable = Executable::Create(
      std::move(plan.plan()), plan.devices(), std::make_shared<EmptyStore>());
  ASSERT_OK(executable);
  EXPECT_EQ(CountedMemory(), before);
  EXPECT_EQ((*executable)->plan().constants[0].data != nullptr, IsUnified());
}

TEST_F(OpenClConstants, AreCopiedWhereTheyAreNotAligned) {
  PlanBuilder plan(devices_, 64);
  const Floats values(65, 5);
  const int constant = plan.Constant(1, values);
  ir::ConstantBlock& block = plan.plan().constants[0];
  block.data = {block.data, block.data.get() + 4};
  block.bytes = 256;
  BuildSum(plan, constant);
  const auto executable = CompilePlan(plan);
  ASSERT_OK(executable);
  EXPECT_EQ((*executable)->plan().constants[0].data, nullptr);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  ExpectRun(**context, Floats(64, 1), Floats(64, 6));
}

TEST_F(OpenClConstants, OfABlockAreRangesOfItsBuffer) {
  PlanBuilder plan(devices_, 7);
  const TwoConstants constants(plan);
  BuildSum(plan, constants.second);
  const auto context = MakeContext(plan);
  ASSERT_OK(context);
  ExpectRun(**context, Floats(7, 1), Floats(7, 3));
}

TEST_F(OpenClConstants, OutliveThePlanTheyCameFrom) {
  std::unique_ptr<ExecutionContext> context;
  std::weak_ptr<const std::byte[]> content;
  {
    PlanBuilder plan(devices_, 64);
    BuildSum(plan, plan.Constant(1, Floats(64, 5)));
    content = plan.plan().constants[0].data;
    auto made = MakeContext(plan);
    ASSERT_OK(made);
    context = *std::move(made);
  }
  EXPECT_EQ(content.expired(), !IsUnified());
  ExpectRun(*context, Floats(64, 1), Floats(64, 6));
  context = nullptr;
  EXPECT_TRUE(content.expired());
}

// Plans may share memory: each executable has a buffer on it.
TEST_F(OpenClConstants, OfTwoExecutablesMayBeTheSameMemory) {
  PlanBuilder plan(devices_, 64);
  BuildSum(plan, plan.Constant(1, Floats(64, 5)));
  auto first = MakeContext(plan);
  const auto second = MakeContext(plan);
  ASSERT_OK(first);
  ASSERT_OK(second);
  ExpectRun(**first, Floats(64, 1), Floats(64, 6));
  first->reset();
  ExpectRun(**second, Floats(64, 2), Floats(64, 7));
}

}  // namespace
}  // namespace tim::runtime
