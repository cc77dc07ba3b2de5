#include "tests/support/devices/fake_device.h"

#include <variant>

#include "device/host/eval_step.h"
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

int FakeState::steps_run() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return steps_run_;
}

FakeDevice::FakeDevice(const FakeOptions& options)
    : state_(std::make_shared<FakeState>(options)) {
  info_.kind = "fake";
  info_.name = "fake device";
  info_.vendor = "TIM-CL tests";
  info_.driver = "1";
  info_.device_class = ir::DeviceClass::kAccelerator;
  info_.runs_eval = true;
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

Result<std::vector<std::unique_ptr<device::PreparedStep>>> FakeDevice::Prepare(
    std::span<const ir::Action* const> steps, const ir::OpRegistry& operators,
    device::BinaryStore&) {
  TIM_RETURN_IF_ERROR(state_->CheckLost());
  if (fail_prepare_.exchange(false)) {
    return BuildFailure("the fake device was told to fail the build");
  }
  std::vector<std::unique_ptr<device::PreparedStep>> prepared(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    if (std::holds_alternative<ir::Copy>(*steps[i])) continue;
    const auto* call = std::get_if<ir::HostCall>(steps[i]);
    if (call == nullptr) {
      return Unimplemented("the fake device cannot run '", ToString(*steps[i]),
                           "'");
    }
    TIM_ASSIGN_OR_RETURN(prepared[i],
                         device::EvalStep::Create(*call, operators));
  }
  return prepared;
}

}  // namespace tim::testing
