// One queue: runs in order, on the devices or on a thread.
#ifndef TIM_VX_PLATFORM_RUN_QUEUE_H_
#define TIM_VX_PLATFORM_RUN_QUEUE_H_

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fork/per_process.h"
#include "base/status.h"
#include "base/worker.h"
#include "runtime/run_event.h"
#include "vx/platform/queues.h"

namespace tim::vx::platform {

using EventPtr = std::shared_ptr<runtime::RunEvent>;

/// Submitted work: an executable or a graph.  Any thread calls one of the
/// functions once.
struct QueuedRun {
  /// Does it, and returns when it is done.  Failures are logged already.
  std::function<Status()> run;
  /// Hands it to the devices, behind `after` (may be null), however that ends.
  /// Null, and nothing was done, where run() has to do it.  Never blocks; may
  /// be null itself.
  std::function<EventPtr(const EventPtr& after)> try_start = nullptr;
  /// The work is gone: nothing behind it runs.
  bool is_end = false;
};

/// Each run starts when the one before has ended, however.  The devices do what
/// they can do by themselves; a thread, which is started for it, does the rest,
/// and calls callbacks.  Any thread.  A forked process has none of what was in
/// flight when it was forked off.
class RunQueue {
 public:
  explicit RunQueue(std::shared_ptr<Queues> queues)
      : queues_(std::move(queues)) {}
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;
  /// Returns when all is done; where a callback destroys it, before that has
  /// returned.
  ~RunQueue();

  /// Does `runs`, all of them even where one fails, and then calls `callback`,
  /// which may be null.  False, with LastError(), where they could not be
  /// queued or, with kWait, one has failed; with kReturn the first failure is
  /// kept in the device's queues.
  bool Launch(std::vector<QueuedRun> runs, Mode mode,
              IDevice::async_callback callback);

  /// Blocks until what was launched so far is done.  kFailedPrecondition from
  /// a callback of it.
  Status Wait();
  /// Whether this is called by a callback of it, or by a run on its thread.
  bool IsCalling() const { return worker_.IsCalling(); }

 private:
  struct State {
    std::mutex mutex;
    EventPtr last;                   // that was handed to the devices, or null
    std::deque<EventPtr> in_flight;  // whose failures are to be kept
  };

  std::vector<EventPtr> Start(State& state, std::vector<QueuedRun>* runs);
  void KeepFailure(State& state, const EventPtr& ended);
  void WaitForDevices();

  const std::shared_ptr<Queues> queues_;
  PerProcess<State> state_;
  Worker worker_;
};

}  // namespace tim::vx::platform

#endif  // TIM_VX_PLATFORM_RUN_QUEUE_H_
