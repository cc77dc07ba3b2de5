// A queue of calls with a thread of its own.
#ifndef TIM_BASE_WORKER_H_
#define TIM_BASE_WORKER_H_

#include <functional>
#include <memory>

#include "base/fork/per_process.h"
#include "base/status.h"

namespace tim {

/// Does one call after the other, in the order in which they came, on a thread
/// that starts with the first.  Any thread.  A forked process has a thread of
/// its own, and none of the calls that were not done when it was forked off.
class Worker {
 public:
  using Call = std::function<void()>;

  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Waits until all calls are done.  One of them may destroy the worker, too:
  /// the destructor returns then, and the thread ends after the last call.
  ~Worker() = default;

  /// Appends `call`, which is destroyed right after it is done.  What it throws
  /// is logged.  kOutOfMemory where no thread can be started; nothing was
  /// appended then.
  Status Post(Call call);

  /// Blocks until the calls posted so far are done.  kFailedPrecondition from
  /// one of them, which would wait for itself.
  Status Wait();

  /// Whether all calls posted so far are done.  Never blocks for long.
  bool IsIdle() const;

  /// Whether this is called by one of the calls.
  bool IsCalling() const;

 private:
  struct State;
  struct Queue {
    Queue();
    ~Queue();
    const std::shared_ptr<State> state;
  };

  State& state() const;

  mutable PerProcess<Queue> queue_;
};

}  // namespace tim

#endif  // TIM_BASE_WORKER_H_
