#include <utility>

#include "tim/vx/platform/native.h"
#include "vx/core/failure.h"
#include "vx/platform/run_lock.h"

namespace tim::vx::platform {
namespace {

std::unique_lock<std::mutex> LockOf(const std::shared_ptr<RunLock>& running) {
  if (running == nullptr) return {};
  return running->Take();
}

bool FailOfNull() {
  return Fail(InvalidArgument("a tensor handle without a tensor"));
}

}  // namespace

NativeTensorHandle::NativeTensorHandle(const std::shared_ptr<Tensor>& tensor)
    : NativeTensorHandle(tensor, nullptr) {}

NativeTensorHandle::NativeTensorHandle(const std::shared_ptr<Tensor>& tensor,
                                       std::shared_ptr<RunLock> running)
    : running_(std::move(running)) {
  tensor_ = tensor;
}

bool NativeTensorHandle::CopyDataToTensor(const void* data,
                                          uint32_t size_in_bytes) {
  if (tensor_ == nullptr) return FailOfNull();
  const auto lock = LockOf(running_);
  return tensor_->CopyDataToTensor(data, size_in_bytes);
}

bool NativeTensorHandle::CopyDataFromTensor(void* data) {
  if (tensor_ == nullptr) return FailOfNull();
  const auto lock = LockOf(running_);
  return tensor_->CopyDataFromTensor(data);
}

TensorSpec& NativeTensorHandle::GetSpec() {
  return tensor_ != nullptr ? tensor_->GetSpec() : none_;
}

}  // namespace tim::vx::platform
