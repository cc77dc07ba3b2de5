// Devices that delay their work, with names of the front for values.
#ifndef TIM_TESTS_VALUES_FAKE_DEVICES_H_
#define TIM_TESTS_VALUES_FAKE_DEVICES_H_

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "device/device_sources.h"
#include "tests/support/devices/fake_device.h"
#include "tim/values/values.h"

namespace tim::values {

// Devices of kind "test", numbered as they are added; the process keeps them.
class TestDevices {
 public:
  static TestDevices& Get() {
    static auto* const devices = new TestDevices();
    return *devices;
  }

  Device Add(std::shared_ptr<device::Device> device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    devices_.push_back(std::move(device));
    return Device("test:" + std::to_string(devices_.size() - 1));
  }
  // What is opened from now on as the device of this name.
  void Replace(const std::string& spec,
               std::shared_ptr<device::Device> device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    devices_[static_cast<size_t>(std::stoi(spec.substr(5)))] =
        std::move(device);
  }

 private:
  TestDevices() {
    const Status added = device::AddDeviceSource(
        {.kind = "test",
         .list =
             [this] {
               std::vector<device::SourceDevice> list;
               for (const auto& device : devices_) {
                 list.push_back({device->info(), 1, ""});
               }
               return list;
             },
         .open = [this](int number) -> Result<std::shared_ptr<device::Device>> {
           return devices_[static_cast<size_t>(number)];
         }});
    EXPECT_TRUE(added.ok()) << added.message();
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<device::Device>> devices_;
};

// A device that delays its work, and the front's name for it.
struct Fake {
  explicit Fake(const testing::FakeOptions& options = {})
      : device(std::make_shared<testing::FakeDevice>(options)),
        front(TestDevices::Get().Add(device)) {
    EXPECT_TRUE(front.ok()) << LastError();
  }
  Program Compile(const Graph& graph, const std::string& policy = "") const {
    ProgramOptions options;
    options.devices = front.spec();
    options.policy = policy;
    options.max_plans = 64;
    return graph.Compile(options);
  }

  std::shared_ptr<testing::FakeDevice> device;
  Device front;
};

}  // namespace tim::values

#endif  // TIM_TESTS_VALUES_FAKE_DEVICES_H_
