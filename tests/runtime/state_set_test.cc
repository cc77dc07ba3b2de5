#include "runtime/state_set.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/options.h"
#include "device/device_pools.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using device::Devices;
using testing::EmptyStore;
using testing::FakeDevice;
using testing::PlanBuilder;

// State 0 is only read; state 1 is written.
Result<std::shared_ptr<const Executable>> Make(const Devices& devices) {
  const int device = static_cast<int>(devices.size()) - 1;
  PlanBuilder plan(devices, 4);
  plan.State(device);
  const int written = plan.State(device);
  plan.Copy(device, plan.ReadState(0), plan.WriteState(written));
  return Executable::Create(plan.plan(), devices,
                            std::make_shared<EmptyStore>());
}

void CheckAll(const Devices& devices) {
  const auto executable = Make(devices);
  ASSERT_OK(executable);
  const auto created = StateSet::Create(*executable);
  ASSERT_OK(created);
  StateSet& states = **created;
  const std::vector<float> zeros(4, 0);
  std::vector<float> values(4, -1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(states.Read(i, values.data()));
    EXPECT_EQ(values, zeros);
  }
  const std::vector<float> written = {1, 2, 3, 4};
  ASSERT_OK(states.Write(0, written.data()));
  ASSERT_OK(states.Write(1, written.data()));
  states.Advance();
  ASSERT_OK(states.Read(0, values.data()));
  EXPECT_EQ(values, written);
  // What a run would have written: nothing has, so it is zero.
  ASSERT_OK(states.Read(1, values.data()));
  EXPECT_EQ(values, zeros);
  states.Advance();
  ASSERT_OK(states.Read(1, values.data()));
  EXPECT_EQ(values, written);
}

TEST(StateSet, KeepsValuesOnTheHost) { CheckAll({device::CreateHostDevice()}); }

TEST(StateSet, KeepsValuesOnADeviceOfItsOwnMemory) {
  CheckAll({device::CreateHostDevice(), std::make_shared<FakeDevice>()});
}

TEST(StateSet, KeepsValuesOnOpenCl) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  CheckAll({device::CreateHostDevice(),
            *device::CreateOpenClDevice(0, GetOptions().on_device)});
}

TEST(StateSet, OnlyWrittenStatesHaveTwoBuffers) {
  const auto executable = Make({device::CreateHostDevice()});
  ASSERT_OK(executable);
  const auto states = StateSet::Create(*executable);
  ASSERT_OK(states);
  device::Buffer* read_only = &(*states)->read_buffer(0);
  device::Buffer* read = &(*states)->read_buffer(1);
  device::Buffer* write = &(*states)->write_buffer(1);
  EXPECT_NE(read, write);
  (*states)->Advance();
  EXPECT_EQ(&(*states)->read_buffer(0), read_only);
  EXPECT_EQ(&(*states)->read_buffer(1), write);
  EXPECT_EQ(&(*states)->write_buffer(1), read);
}

TEST(StateSet, WhatIsUpdatedInPlaceHasOneBuffer) {
  const Devices devices = {device::CreateHostDevice()};
  PlanBuilder plan(devices, 4);
  const int input = plan.Input();
  plan.Copy(0, input, plan.WriteState(plan.State(0)));
  plan.plan().states[0].in_place = true;
  const auto executable =
      Executable::Create(plan.plan(), devices, std::make_shared<EmptyStore>());
  ASSERT_OK(executable);
  const auto states = StateSet::Create(*executable);
  ASSERT_OK(states);
  device::Buffer* buffer = &(*states)->write_buffer(0);
  EXPECT_EQ(&(*states)->read_buffer(0), buffer);
  (*states)->Advance();
  EXPECT_EQ(&(*states)->read_buffer(0), buffer);
}

TEST(StateSet, IndexOutsideThePlanIsAnError) {
  const auto executable = Make({device::CreateHostDevice()});
  ASSERT_OK(executable);
  const auto states = StateSet::Create(*executable);
  ASSERT_OK(states);
  float values[4] = {};
  EXPECT_ERROR((*states)->Write(2, values), "state 2 of 2");
  EXPECT_ERROR((*states)->Read(-1, values), "state -1 of 2");
}

TEST(StateSet, OutOfMemoryNamesTheState) {
  const auto fake =
      std::make_shared<FakeDevice>(testing::FakeOptions{.memory_bytes = 64});
  const auto executable = Make({device::CreateHostDevice(), fake});
  ASSERT_OK(executable);
  const auto states = StateSet::Create(*executable);
  EXPECT_EQ(states.status().code(), StatusCode::kOutOfMemory);
  EXPECT_ERROR(states, "state 'state1'");
  EXPECT_ERROR(states, "the memory pool of fake device: 64 of 64 bytes in use");
  fake->pools().Trim(0);
  EXPECT_EQ(fake->live_bytes(), 0);
}

}  // namespace
}  // namespace tim::runtime
