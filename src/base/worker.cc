#include "base/worker.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/guarded.h"
#include "base/log.h"

namespace tim {

// The thread shares it: it may outlive the worker.
struct Worker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Call> calls;
  uint64_t posted = 0;
  uint64_t done = 0;
  bool closing = false;
  std::thread thread;  // started by the first call

  void Work();
};

void Worker::State::Work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return closing || !calls.empty(); });
    if (calls.empty()) return;
    Call call = std::move(calls.front());
    calls.pop_front();
    lock.unlock();
    const Status status = GuardedCall([&] {
      call();
      return OkStatus();
    });
    if (!status.ok()) TIM_LOG(kError, "a call of a queue: ", status.message());
    call = nullptr;  // whoever waits for it may count on that
    lock.lock();
    ++done;
    changed.notify_all();
  }
}

Worker::Worker() : state_(std::make_shared<State>()) {}

Worker::~Worker() {
  std::thread thread;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
    thread = std::move(state_->thread);
    state_->changed.notify_all();
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

Status Worker::Post(Call call) {
  const std::lock_guard lock(state_->mutex);
  try {
    if (!state_->thread.joinable()) {
      state_->thread = std::thread([state = state_] { state->Work(); });
    }
    state_->calls.push_back(std::move(call));
  } catch (const std::exception& exception) {
    return OutOfMemory("a queue has no thread for its work: ",
                       exception.what());
  }
  ++state_->posted;
  state_->changed.notify_all();
  return OkStatus();
}

Status Worker::Wait() {
  if (IsCalling()) {
    return FailedPrecondition(
        "a call of a queue waits for the queue, which would never end");
  }
  std::unique_lock lock(state_->mutex);
  const uint64_t all = state_->posted;
  state_->changed.wait(lock, [&] { return state_->done >= all; });
  return OkStatus();
}

bool Worker::IsCalling() const {
  const std::lock_guard lock(state_->mutex);
  return state_->thread.get_id() == std::this_thread::get_id();
}

}  // namespace tim
