// A device that is unlike the host in all that the runtime must not assume:
// memory of its own, work done later on other threads, failures on demand.
#ifndef TIM_TESTS_SUPPORT_DEVICES_FAKE_DEVICE_H_
#define TIM_TESTS_SUPPORT_DEVICES_FAKE_DEVICE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "device/device.h"
#include "device/device_pools.h"

namespace tim::testing {

/// What a launch does, on the operands of its step.
using FakeKernel = std::function<void(std::span<std::byte* const> operands)>;

struct FakeOptions {
  uint64_t seed = 1;                        ///< Of the delays.
  int max_delay_us = 100;                   ///< Before each piece of work.
  int64_t memory_bytes = int64_t{1} << 30;  ///< More is out of memory.
  /// By name of the function: what it builds and runs.
  std::map<std::string, FakeKernel> kernels = {};
  /// Most items of a work-group of any kernel, as the check before a launch
  /// sees it, and as a launch does.
  int64_t work_group_limit = 1024;
  int64_t launch_limit = 1024;
  bool runs_eval = true;
  /// Time that each launch and host call takes, and each copy, beside the
  /// delay.
  int step_us = 0;
  int copy_us = 0;
  /// Its streams take turns: one does a piece of work at a time.
  bool one_at_a_time = false;
  /// Devices of one domain copy to each other; null: it is alone.
  const void* domain = nullptr;
  /// Members of its info.
  std::string name = "fake device";
  double gflops = 1.0;
  double launch_us = 5.0;
};

/// A launch or a host call, made ready.
struct FakeStep final : device::PreparedStep {
  std::function<Status(std::span<std::byte* const> operands)> run;
  int64_t work_group = 1;
};

/// What device, buffers and streams share.  Any thread.
class FakeState {
 public:
  explicit FakeState(const FakeOptions& options) : options_(options) {}

  const FakeOptions& options() const { return options_; }

  Status Reserve(int64_t bytes);
  void Release(int64_t bytes);
  void FailAllocationsAfter(int count);
  int64_t live_bytes() const;

  /// Numbers a step; at the one named by LoseAfter the device is lost.
  bool NextStepIsLost();
  void LoseAfter(int steps);
  void SetLost(bool lost);
  /// kDeviceLost, or ok.
  Status CheckLost() const;

  void CountRun();
  int steps_run() const;

  void SetPaused(bool paused);
  /// Blocks while it is paused.
  void Pass();

  void CountCopy() { ++copies_; }
  int copies() const { return copies_; }
  /// Sleeps, alone where the device does one thing at a time.
  void Spend(int microseconds);

 private:
  const FakeOptions options_;
  mutable std::mutex mutex_;
  int64_t live_bytes_ = 0;
  std::optional<int> allocations_left_;
  std::optional<int> steps_left_;
  bool lost_ = false;
  int steps_run_ = 0;
  std::atomic<int> copies_ = 0;
  std::mutex turn_;
  bool paused_ = false;
  std::condition_variable resumed_;
};

/// Runs host calls (`runs_eval`), copies, and launches of FakeOptions::kernels,
/// each of which is a program of its own, whose key is the function's name.
/// New memory holds 0xCD.
class FakeDevice final : public device::Device {
 public:
  explicit FakeDevice(const FakeOptions& options = {});

  /// The next `count` allocations work, all later ones are out of memory.
  void FailAllocationsAfter(int count) { state_->FailAllocationsAfter(count); }
  /// The device is lost while it does the `step`-th step from now, 1 = next.
  void LoseAtStep(int step) { state_->LoseAfter(step - 1); }
  /// Between the two its streams begin nothing.
  void Pause() { state_->SetPaused(true); }
  void Resume() { state_->SetPaused(false); }
  void ResetLost() { state_->SetLost(false); }
  /// The next Prepare gives kBuildFailure for all of its steps.
  void FailNextPrepare() { fail_prepare_ = true; }

  int64_t live_bytes() const { return state_->live_bytes(); }
  int steps_run() const { return state_->steps_run(); }
  int prepares() const { return prepares_; }
  int copies() const { return state_->copies(); }

  const ir::DeviceInfo& info() const override { return info_; }
  const void* domain() const override {
    const void* const domain = state_->options().domain;
    return domain != nullptr ? domain : this;
  }
  Result<std::unique_ptr<device::Buffer>> Allocate(int64_t bytes,
                                                   ir::MemoryKind) override;
  device::DevicePools& pools() override { return pools_; }
  Result<std::unique_ptr<device::Buffer>> Import(void* memory,
                                                 int64_t bytes) override;
  Result<std::unique_ptr<device::Stream>> CreateStream() override;
  device::PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                                    const ir::OpRegistry& operators,
                                    device::BinaryStore& store) override;

 private:
  Result<std::unique_ptr<device::PreparedStep>> PrepareOne(
      const ir::Action& action, const ir::OpRegistry& operators) const;
  template <typename Launch>
  Result<std::unique_ptr<device::PreparedStep>> PrepareLaunch(
      const Launch& launch) const;

  const std::shared_ptr<FakeState> state_;
  ir::DeviceInfo info_;
  std::atomic<bool> fail_prepare_ = false;
  std::atomic<uint64_t> streams_ = 0;
  std::atomic<int> prepares_ = 0;
  device::DevicePools pools_{*this};
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DEVICES_FAKE_DEVICE_H_
