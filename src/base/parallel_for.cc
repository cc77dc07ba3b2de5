#include "base/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/client_threads.h"
#include "base/guarded.h"
#include "base/processors.h"

namespace tim {
namespace {

// The indices of a loop, which threads share, and its first failure.
class SharedLoop {
 public:
  SharedLoop(size_t count, const std::function<Status(size_t)>& body)
      : count_(count), body_(body) {}

  // Does what no thread has begun.
  void Work() noexcept {
    for (size_t i = next_++; i < count_; i = next_++) {
      Status status = GuardedCall([&] { return body_(i); });
      if (!status.ok()) Keep(i, std::move(status));
    }
  }

  // When all threads have come back.
  Status TakeFailure() { return std::move(failure_); }

 private:
  void Keep(size_t index, Status status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok() && failed_ < index) return;
    failed_ = index;
    failure_ = std::move(status);
  }

  const size_t count_;
  const std::function<Status(size_t)>& body_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  size_t failed_ = 0;
  Status failure_;
};

// Beside the caller's thread, as many as can be started.
std::vector<std::jthread> StartHelpers(size_t count, SharedLoop& loop) {
  std::vector<std::jthread> helpers;
  try {
    const size_t limit =
        std::min(count, static_cast<size_t>(UsableProcessors()));
    helpers.reserve(limit);
    for (size_t i = 1; i < limit; ++i) {
      helpers.emplace_back([&loop] { loop.Work(); });
    }
  } catch (const std::exception&) {  // Without the rest, then.
  }
  return helpers;
}

}  // namespace

Status ParallelFor(size_t count, const std::function<Status(size_t)>& body) {
  SharedLoop loop(count, body);
  std::vector<std::jthread> helpers;
  if (ClientThreads* const threads = ClientThreads::Current()) {
    const size_t most = static_cast<size_t>(std::max(threads->count(), 1));
    threads->Run(static_cast<int>(std::min(count, most)),
                 [&loop](int) { loop.Work(); });
  } else {
    helpers = StartHelpers(count, loop);
  }
  loop.Work();
  helpers.clear();  // joins
  return loop.TakeFailure();
}

}  // namespace tim
