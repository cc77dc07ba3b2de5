// Waiting for the queues of a device, and their failures.
#include "vx/platform/queues.h"

#include <mutex>
#include <utility>

#include "base/fork/fork.h"
#include "vx/core/failure.h"
#include "vx/platform/run_queue.h"

namespace tim::vx::platform {

void Tell(const IDevice::async_callback& callback, const Status& status) {
  if (callback == nullptr) return;
  const std::string reason = ErrorText(status);
  const Status thrown =
      CallUser([&] { callback(status.ok() ? nullptr : reason.c_str()); });
  if (!thrown.ok()) Fail(thrown.WithContext("a callback of Trigger()"));
}

std::shared_ptr<RunQueue> Queues::Add() {
  auto queue = std::make_shared<RunQueue>(shared_from_this());
  const std::lock_guard lock(ForkMutex());
  std::erase_if(queues_, [](const auto& known) { return known.expired(); });
  queues_.push_back(queue);
  return queue;
}

void Queues::Keep(const Status& failure) {
  const std::lock_guard lock(ForkMutex());
  if (failure_.ok()) failure_ = failure;
}

void Queues::Wait() {
  std::vector<std::shared_ptr<RunQueue>> queues;
  {
    const std::lock_guard lock(ForkMutex());
    for (const auto& queue : queues_) {
      if (auto alive = queue.lock()) queues.push_back(std::move(alive));
    }
  }
  for (const auto& queue : queues) {
    if (!queue->IsCalling()) continue;
    Fail(
        FailedPrecondition("a callback waits for the device that calls it, "
                           "which would never end"));
    return;
  }
  for (const auto& queue : queues) {
    const Status status = queue->Wait();
    if (!status.ok()) Fail(status);
  }
  Status failure;
  {
    const std::lock_guard lock(ForkMutex());
    std::swap(failure, failure_);
  }
  if (!failure.ok()) Adopt(failure);
}

}  // namespace tim::vx::platform
