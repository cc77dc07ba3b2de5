// Parts of a device, as devices of their own.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/kernels/opencl_test.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

class Cores : public testing::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (device_ == nullptr) return;
    all_ = ListOpenClDevices().at(0).cores;
    if (all_ < 2) GTEST_SKIP() << "the device has one core or cannot be parted";
  }

  int all_ = 0;
};

int UnitsOf(const Result<std::shared_ptr<Device>>& device) {
  return device.ok() ? (*device)->info().compute_units : -1;
}

TEST_F(Cores, ListKnowsEveryDevice) {
  const auto list = ListOpenClDevices();
  EXPECT_EQ(static_cast<int>(list.size()), CountOpenClDevices());
  EXPECT_EQ(list[0].name, device_->info().name);
  EXPECT_EQ(all_, device_->info().compute_units);
}

TEST_F(Cores, AreDevicesOfTheirOwn) {
  for (int first = 0; first < all_; ++first) {
    const auto core = CreateOpenClDevice(0, {}, {first, 1});
    ASSERT_OK(core);
    EXPECT_EQ(UnitsOf(core), 1);
    EXPECT_EQ((*core)->info().name, device_->info().name);
    EXPECT_NE((*core)->NativeHandle("cl_device_id"), id_());
    const cl::Device part(
        static_cast<cl_device_id>((*core)->NativeHandle("cl_device_id")), true);
    EXPECT_EQ(part.getInfo<CL_DEVICE_PARENT_DEVICE>()(), id_());
  }
}

// What a runtime's threads still do with a part is done to one that is there.
TEST_F(Cores, OutliveTheirDevices) {
  const auto part_of = [&](int first) -> void* {
    const auto core = CreateOpenClDevice(0, {}, {first, 1});
    return core.ok() ? (*core)->NativeHandle("cl_device_id") : nullptr;
  };
  void* const part = part_of(0);
  ASSERT_NE(part, nullptr);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(part_of(0), part);
  EXPECT_NE(part_of(1), part);
}

TEST_F(Cores, MayBeSeveral) {
  for (int first = 0; first < all_; ++first) {
    const auto rest = CreateOpenClDevice(0, {}, {first, all_ - first});
    ASSERT_OK(rest);
    EXPECT_EQ(UnitsOf(rest), all_ - first);
  }
}

TEST_F(Cores, AllAreTheDeviceItself) {
  const auto all = CreateOpenClDevice(0, {}, {0, all_});
  ASSERT_OK(all);
  EXPECT_EQ((*all)->NativeHandle("cl_device_id"), id_());
}

TEST_F(Cores, OutsideOfTheDeviceAreRefused) {
  for (const CoreRange cores :
       {CoreRange{-1, 1}, CoreRange{all_, 1}, CoreRange{0, all_ + 1},
        CoreRange{1, all_}, CoreRange{0, -1}, CoreRange{1, 0},
        CoreRange{1, std::numeric_limits<int>::max()}}) {
    const auto refused = CreateOpenClDevice(0, {}, cores);
    EXPECT_ERROR(refused, "numbered from 0");
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tim::device
