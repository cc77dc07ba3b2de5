// Devices and executables of tests, for the queues of tim::vx::platform.
#ifndef TIM_TESTS_SUPPORT_VX_PLATFORM_OBJECTS_H_
#define TIM_TESTS_SUPPORT_VX_PLATFORM_OBJECTS_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tim/vx/platform/native.h"
#include "vx/platform/native_device.h"

namespace tim::testing {

/// Two or more meet: whoever comes waits for the others.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}

  /// Whether all have come, within seconds.
  bool Join() {
    std::unique_lock lock(mutex_);
    ++present_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(20),
                             [this] { return present_ >= expected_; });
  }
  int present() {
    const std::lock_guard lock(mutex_);
    return present_;
  }

 private:
  const int expected_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int present_ = 0;
};

/// An executable of a client: its runs are calls of a function.
class CallingExecutable final : public vx::platform::IExecutable {
 public:
  using Handles = std::vector<std::shared_ptr<vx::platform::ITensorHandle>>;

  CallingExecutable(const std::shared_ptr<vx::platform::IExecutor>& executor,
                    std::function<bool()> run)
      : run_(std::move(run)) {
    executor_ = executor;
  }

  void SetInput(const std::shared_ptr<vx::platform::ITensorHandle>&) override {}
  void SetOutput(const std::shared_ptr<vx::platform::ITensorHandle>&) override {
  }
  void SetInputs(const Handles&) override {}
  void SetOutputs(const Handles&) override {}
  bool Submit(const std::shared_ptr<vx::platform::IExecutable>& ref,
              bool after = true) override {
    const auto executor = Executor();
    return executor != nullptr &&
           executor->Submit(shared_from_this(), ref, after);
  }
  bool Trigger(bool) override { return run_(); }
  bool Verify() override { return verifies_; }
  std::shared_ptr<vx::platform::ITensorHandle> AllocateTensor(
      const vx::TensorSpec&, void*, uint32_t) override {
    return nullptr;
  }
  void FailVerify() { verifies_ = false; }

 private:
  std::function<bool()> run_;
  bool verifies_ = true;
};

/// A device with `cores` cores, all of them the host.
inline std::shared_ptr<vx::platform::NativeDevice> DeviceWithCores(
    uint32_t cores) {
  return vx::platform::MakeDevice({.id = 0,
                                   .name = "cores of a test",
                                   .cores = cores,
                                   .open = [](device::CoreRange) {
                                     return runtime::SelectDevices("host");
                                   }});
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_PLATFORM_OBJECTS_H_
