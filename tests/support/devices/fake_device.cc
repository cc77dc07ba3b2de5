#include "tests/support/devices/fake_device.h"

#include <chrono>
#include <thread>
#include <variant>

#include "device/host/eval_step.h"
#include "device/launch_check.h"
#include "tests/support/devices/fake_stream.h"

namespace tim::testing {

Status FakeState::Reserve(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lost_) return DeviceLost("the fake device is lost");
  if (allocations_left_ && *allocations_left_ == 0) {
    return OutOfMemory("the fake device refuses ", bytes, " bytes");
  }
  if (live_bytes_ + bytes > options_.memory_bytes) {
    return OutOfMemory("the fake device has ", options_.memory_bytes,
                       " bytes, ", live_bytes_, " in use, ", bytes, " wanted");
  }
  if (allocations_left_) --*allocations_left_;
  live_bytes_ += bytes;
  return OkStatus();
}

void FakeState::Release(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  live_bytes_ -= bytes;
}

void FakeState::FailAllocationsAfter(int count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  allocations_left_ = count;
}

int64_t FakeState::live_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return live_bytes_;
}

bool FakeState::NextStepIsLost() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!steps_left_) return false;
  if ((*steps_left_)-- > 0) return false;
  steps_left_.reset();
  return true;
}

void FakeState::LoseAfter(int steps) {
  const std::lock_guard<std::mutex> lock(mutex_);
  steps_left_ = steps;
}

void FakeState::SetLost(bool lost) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lost_ = lost;
}

Status FakeState::CheckLost() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lost_) return DeviceLost("the fake device is lost");
  return OkStatus();
}

void FakeState::CountRun() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++steps_run_;
}

void FakeState::SetPaused(bool paused) {
  const std::lock_guard<std::mutex> lock(mutex_);
  paused_ = paused;
  resumed_.notify_all();
}

void FakeState::Pass() {
  std::unique_lock<std::mutex> lock(mutex_);
  resumed_.wait(lock, [this] { return !paused_; });
}

void FakeState::Spend(int microseconds) {
  if (microseconds <= 0) return;
  std::unique_lock<std::mutex> turn(turn_, std::defer_lock);
  if (options_.one_at_a_time) turn.lock();
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

int FakeState::steps_run() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return steps_run_;
}

FakeDevice::FakeDevice(const FakeOptions& options)
    : state_(std::make_shared<FakeState>(options)) {
  info_.kind = "fake";
  info_.name = options.name;
  info_.gflops = options.gflops;
  info_.launch_us = options.launch_us;
  info_.vendor = "TIM-CL tests";
  info_.driver = "1";
  info_.device_class = ir::DeviceClass::kAccelerator;
  info_.runs_eval = options.runs_eval;
  info_.max_work_group_size = 1024;
  info_.max_work_item_sizes = {1024, 1024, 1024};
  info_.global_memory_bytes = options.memory_bytes;
  info_.max_allocation_bytes = options.memory_bytes;
}

Result<std::unique_ptr<device::Buffer>> FakeDevice::Allocate(int64_t bytes,
                                                             ir::MemoryKind) {
  TIM_RETURN_IF_ERROR(state_->Reserve(bytes));
  return std::unique_ptr<device::Buffer>(
      std::make_unique<FakeBuffer>(state_, bytes));
}

Result<std::unique_ptr<device::Buffer>> FakeDevice::Import(void*, int64_t) {
  return Unimplemented("the fake device does not import host memory");
}

Result<std::unique_ptr<device::Stream>> FakeDevice::CreateStream() {
  TIM_RETURN_IF_ERROR(state_->CheckLost());
  return std::unique_ptr<device::Stream>(std::make_unique<FakeStream>(
      state_, state_->options().seed + streams_++));
}

device::PreparedSteps FakeDevice::PrepareEach(
    std::span<const ir::Action* const> steps, const ir::OpRegistry& operators,
    device::BinaryStore& store) {
  ++prepares_;
  const bool fail = fail_prepare_.exchange(false);
  device::PreparedSteps prepared;
  for (const ir::Action* step : steps) {
    if (Status lost = state_->CheckLost(); !lost.ok()) {
      prepared.push_back(std::move(lost));
    } else if (fail) {
      prepared.push_back(
          BuildFailure("the fake device was told to fail the build"));
    } else {
      prepared.push_back(PrepareOne(*step, operators));
      const auto* launch = std::get_if<ir::KernelLaunch>(step);
      if (launch == nullptr || !prepared.back().ok()) continue;
      store.Use(launch->function, [name = launch->function] {
        return std::optional("binary of " + name);
      });
    }
  }
  return prepared;
}

Result<std::unique_ptr<device::PreparedStep>> FakeDevice::PrepareOne(
    const ir::Action& action, const ir::OpRegistry& operators) const {
  if (std::holds_alternative<ir::Copy>(action)) return nullptr;
  const auto* launch = std::get_if<ir::KernelLaunch>(&action);
  if (launch != nullptr) return PrepareLaunch(*launch);
  const auto* users = std::get_if<ir::UserLaunch>(&action);
  if (users != nullptr) return PrepareLaunch(*users);
  const auto* call = std::get_if<ir::HostCall>(&action);
  if (call == nullptr) {
    return Unimplemented("the fake device cannot run '", ToString(action), "'");
  }
  TIM_ASSIGN_OR_RETURN(std::shared_ptr<device::EvalStep> eval,
                       device::EvalStep::Create(*call, operators));
  auto step = std::make_unique<FakeStep>();
  step->run = [eval](std::span<std::byte* const> operands) {
    return eval->Run(operands);
  };
  return std::unique_ptr<device::PreparedStep>(std::move(step));
}

template <typename Launch>
Result<std::unique_ptr<device::PreparedStep>> FakeDevice::PrepareLaunch(
    const Launch& launch) const {
  const FakeOptions& options = state_->options();
  const auto kernel = options.kernels.find(launch.function);
  if (kernel == options.kernels.end()) {
    return BuildFailure("the fake device has no kernel ", launch.function,
                        "\nsecond line of the log");
  }
  TIM_RETURN_IF_ERROR(device::CheckLimits(
      launch, info_, {.work_group_size = options.work_group_limit}));
  auto step = std::make_unique<FakeStep>();
  step->run = [run = kernel->second](std::span<std::byte* const> operands) {
    run(operands);
    return OkStatus();
  };
  step->work_group = launch.range.local[0];
  return std::unique_ptr<device::PreparedStep>(std::move(step));
}

}  // namespace tim::testing
