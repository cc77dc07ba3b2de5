// The event of a run that was enqueued: whether it has ended, and how.
#ifndef TIM_RUNTIME_RUN_EVENT_H_
#define TIM_RUNTIME_RUN_EVENT_H_

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"

namespace tim::runtime {

/// Any thread.  It may be dropped at any time: the run goes on.
class RunEvent {
 public:
  using Call = std::function<void(const Status& how_it_went)>;

  virtual ~RunEvent() = default;

  /// Blocks until the run has ended; how it went, the same at every call.
  virtual Status Wait() = 0;
  /// Whether Wait() would return at once.  Never blocks.
  virtual bool Ready() = 0;
  /// Calls `call` once the run has ended, exactly once and with no lock held:
  /// at once, on this thread, where it has ended already, else on a thread
  /// which makes the calls of all runs of its graph one after the other.  It
  /// may enqueue runs and wait for them, and destroy anything.
  virtual void Then(Call call) = 0;
  /// Runs that have to end before this one does.
  virtual std::vector<std::shared_ptr<RunEvent>> Awaited() { return {}; }
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_RUN_EVENT_H_
