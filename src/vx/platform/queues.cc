#include "vx/platform/queues.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/fork/fork.h"
#include "vx/core/failure.h"

namespace tim::vx::platform {

void Tell(const IDevice::async_callback& callback, const Status& status) {
  if (callback == nullptr) return;
  const std::string reason = ErrorText(status);
  const Status thrown =
      CallUser([&] { callback(status.ok() ? nullptr : reason.c_str()); });
  if (!thrown.ok()) Fail(thrown.WithContext("a callback of Trigger()"));
}

std::shared_ptr<Worker> Queues::Add() {
  auto worker = std::make_shared<Worker>();
  const std::lock_guard lock(ForkMutex());
  std::erase_if(workers_, [](const auto& known) { return known.expired(); });
  workers_.push_back(worker);
  return worker;
}

void Queues::Keep(const Status& failure) {
  const std::lock_guard lock(ForkMutex());
  if (failure_.ok()) failure_ = failure;
}

void Queues::Wait() {
  std::vector<std::shared_ptr<Worker>> workers;
  {
    const std::lock_guard lock(ForkMutex());
    for (const auto& worker : workers_) {
      if (auto alive = worker.lock()) workers.push_back(std::move(alive));
    }
  }
  for (const auto& worker : workers) {
    if (!worker->IsCalling()) continue;
    Fail(
        FailedPrecondition("a callback waits for the device that calls it, "
                           "which would never end"));
    return;
  }
  for (const auto& worker : workers) {
    const Status status = worker->Wait();
    if (!status.ok()) Fail(status);
  }
  Status failure;
  {
    const std::lock_guard lock(ForkMutex());
    std::swap(failure, failure_);
  }
  if (!failure.ok()) Adopt(failure);
}

bool Launch(std::shared_ptr<Queues> queues, std::shared_ptr<Worker> worker,
            Work work, Mode mode, IDevice::async_callback callback) {
  if (mode == Mode::kReturn) {
    const Status posted =
        worker->Post([queues = std::move(queues), work = std::move(work),
                      callback = std::move(callback)] {
          const Status status = work();
          if (!status.ok()) queues->Keep(status);
          Tell(callback, status);
        });
    return posted.ok() || Fail(posted);
  }
  if (worker->IsCalling()) {
    return Fail(FailedPrecondition(
        "a callback of Trigger() waits for the queue that calls it, which "
        "would never end; trigger with async = true"));
  }
  Status status;
  const Status posted = worker->Post([&] {
    status = work();
    Tell(callback, status);
  });
  if (!posted.ok()) return Fail(posted);
  const Status waited = worker->Wait();
  if (!waited.ok()) return Fail(waited);
  return status.ok() || Adopt(status);
}

}  // namespace tim::vx::platform
