#include "device/device_pools.h"

#include <gtest/gtest.h>

#include "tests/support/devices/fake_device.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ir::MemoryKind;
using testing::FakeDevice;

constexpr int64_t kMiB = 1 << 20;

TEST(DevicePools, KindsOfMemoryHavePoolsOfTheirOwn) {
  FakeDevice device;
  DevicePools& pools = device.pools();
  EXPECT_EQ(&pools.Of(MemoryKind::kDevice), &device.pools().Of(MemoryKind(0)));
  const auto range = pools.Of(MemoryKind::kHost).Allocate(1, nullptr);
  ASSERT_OK(range);
  EXPECT_EQ(pools.Of(MemoryKind::kDevice).stats().in_use, 0);
  EXPECT_EQ(pools.Of(MemoryKind::kHost).stats().in_use, 64);
}

TEST(DevicePools, MakeRoomForWhatLiesOutsideOfThem) {
  FakeDevice device({.memory_bytes = 3 * kMiB});
  DevicePools& pools = device.pools();
  PoolRange range = *pools.Of(MemoryKind::kDevice).Allocate(1, nullptr);
  EXPECT_EQ(
      pools.AllocateOutside(2 * kMiB, MemoryKind::kDevice).status().code(),
      StatusCode::kOutOfMemory);
  range = {};
  const auto outside = pools.AllocateOutside(2 * kMiB, MemoryKind::kDevice);
  EXPECT_OK(outside);
  EXPECT_EQ(device.live_bytes(), 2 * kMiB);
}

}  // namespace
}  // namespace tim::device
