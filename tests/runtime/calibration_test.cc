// Rates that devices are measured to reach, and how long they are kept.
#include "runtime/calibration.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

/// Keeps everything, and counts programs.
class MapStore final : public device::BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view key) override {
    const auto found = kept.find(key);
    if (found == kept.end()) return std::nullopt;
    return found->second;
  }
  void Store(std::string_view key, std::string_view bytes) override {
    kept[std::string(key)] = bytes;
  }
  void CountBuild() override { ++builds; }

  std::map<std::string, std::string, std::less<>> kept;
  int builds = 0;
};

/// The first OpenCL device by a name that nobody else has.
class Renamed final : public testing::ForwardingDevice {
 public:
  Renamed(std::shared_ptr<device::Device> device, const std::string& name)
      : ForwardingDevice(std::move(device)), info_(ForwardingDevice::info()) {
    info_.name = name;
  }
  const ir::DeviceInfo& info() const override { return info_; }

 private:
  ir::DeviceInfo info_;
};

TEST(Calibration, IsKeptAsText) {
  const Calibration some{
      .gflops = 1234.5, .gbytes_per_second = 0.1, .launch_us = 3e-3};
  const auto read = DecodeCalibration(EncodeCalibration(some));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, some);
  for (const char* text :
       {"", "1 2 3", "1 2\n", "1 2 3\n4", "1 2 3 4\n", "a b c\n", "1 2 -3\n",
        "0 2 3\n", "nan 2 3\n", "1 inf 3\n", "1e13 2 3\n", "1,5 2 3\n"}) {
    EXPECT_FALSE(DecodeCalibration(text).has_value()) << text;
  }
}

TEST(Calibration, IsOfDevicesThatRunOpenClC) {
  const auto store = std::make_shared<MapStore>();
  EXPECT_ERROR(Calibrate(device::CreateHostDevice(), store),
               "runs no OpenCL C");
  EXPECT_ERROR(Calibrate(std::make_shared<testing::FakeDevice>(), store),
               "runs no OpenCL C");
  EXPECT_TRUE(store->kept.empty());
}

TEST(Calibration, IsTakenFromTheStore) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto device = std::make_shared<Renamed>(
      *device::CreateOpenClDevice(0, GetOptions().on_device), "stored");
  const auto store = std::make_shared<MapStore>();
  store->kept[CalibrationKey(device->info())] = "12 3.5 40\n";
  const auto found = Calibrate(device, store);
  ASSERT_OK(found);
  EXPECT_EQ(found->gflops, 12);
  EXPECT_EQ(found->gbytes_per_second, 3.5);
  EXPECT_EQ(found->launch_us, 40);
  EXPECT_EQ(store->builds, 0);
  EXPECT_EQ(KnownCalibration(device->info(), *store), *found);
  // The process knows it from now on.
  const auto again = Calibrate(device, std::make_shared<MapStore>());
  ASSERT_OK(again);
  EXPECT_EQ(*again, *found);
}

// A damaged text is as good as none.
TEST(Calibration, IsMeasuredOnceAndStored) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto device = std::make_shared<Renamed>(
      *device::CreateOpenClDevice(0, GetOptions().on_device), "measured");
  const auto store = std::make_shared<MapStore>();
  const std::string key = CalibrationKey(device->info());
  store->kept[key] = "12 3.5\n";
  EXPECT_FALSE(KnownCalibration(device->info(), *store).has_value());
  EXPECT_EQ(store->builds, 0);
  const auto found = Calibrate(device, store);
  ASSERT_OK(found);
  EXPECT_GT(found->gflops, 0.05);
  EXPECT_LT(found->gflops, 1e6);
  EXPECT_GT(found->gbytes_per_second, 0.05);
  EXPECT_LT(found->gbytes_per_second, 1e5);
  EXPECT_GT(found->launch_us, 0.1);
  EXPECT_LT(found->launch_us, 1e6);
  EXPECT_EQ(DecodeCalibration(store->kept[key]), *found);
  const auto again = Calibrate(device, std::make_shared<MapStore>());
  ASSERT_OK(again);
  EXPECT_EQ(*again, *found);
}

TEST(Calibration, IsMeasuredAnewWhereThatIsAsked) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  const auto device = std::make_shared<Renamed>(
      *device::CreateOpenClDevice(0, GetOptions().on_device), "anew");
  const auto store = std::make_shared<MapStore>();
  const std::string key = CalibrationKey(device->info());
  store->kept[key] = "1e9 1e9 1e9\n";
  const auto found = CalibrateAnew(device, store);
  ASSERT_OK(found);
  EXPECT_LT(found->gflops, 1e6);
  EXPECT_EQ(DecodeCalibration(store->kept[key]), *found);
  EXPECT_EQ(KnownCalibration(device->info(), *store), *found);
  EXPECT_ERROR(CalibrateAnew(device::CreateHostDevice(), store),
               "runs no OpenCL C");
}

TEST(Calibration, IsOfOneDeviceAndItsKernels) {
  ir::DeviceInfo info;
  const std::string key = CalibrationKey(info);
  ir::DeviceInfo other = info;
  other.name = "other";
  EXPECT_NE(CalibrationKey(other), key);
  other = info;
  other.driver = "2";
  EXPECT_NE(CalibrationKey(other), key);
  other = info;
  other.compute_units = 2;
  EXPECT_NE(CalibrationKey(other), key);
  other = info;
  other.device_class = ir::DeviceClass::kGpu;
  EXPECT_NE(CalibrationKey(other), key);
}

}  // namespace
}  // namespace tim::runtime
