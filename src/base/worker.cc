// A thread that takes one call after the other.
#include "base/worker.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fork/fork.h"
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
  const uint32_t forks = Forks();
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
    call = nullptr;                // whoever waits for it may count on that
    if (forks != Forks()) return;  // a process that the call has forked off
    lock.lock();
    ++done;
    changed.notify_all();
  }
}

Worker::Queue::Queue() : state(std::make_shared<State>()) {}

Worker::Queue::~Queue() {
  std::thread thread;
  {
    const std::lock_guard lock(state->mutex);
    state->closing = true;
    thread = std::move(state->thread);
    state->changed.notify_all();
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

Worker::State& Worker::state() const { return *queue_.Get().state; }

Status Worker::Post(Call call) {
  State& own = state();
  const std::lock_guard lock(own.mutex);
  try {
    if (!own.thread.joinable()) {
      own.thread = std::thread([state = queue_.Get().state] { state->Work(); });
    }
    own.calls.push_back(std::move(call));
  } catch (const std::exception& exception) {
    return OutOfMemory("a queue has no thread for its work: ",
                       exception.what());
  }
  ++own.posted;
  own.changed.notify_all();
  return OkStatus();
}

Status Worker::Wait() {
  if (IsCalling()) {
    return FailedPrecondition(
        "a call of a queue waits for the queue, which would never end");
  }
  State& own = state();
  std::unique_lock lock(own.mutex);
  const uint64_t all = own.posted;
  own.changed.wait(lock, [&] { return own.done >= all; });
  return OkStatus();
}

bool Worker::IsIdle() const {
  State& own = state();
  const std::lock_guard lock(own.mutex);
  return own.done == own.posted;
}

bool Worker::IsCalling() const {
  State& own = state();
  const std::lock_guard lock(own.mutex);
  return own.thread.get_id() == std::this_thread::get_id();
}

}  // namespace tim
