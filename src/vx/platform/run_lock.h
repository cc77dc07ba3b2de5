// Who may change or run the graph of an executable.
#ifndef TIM_VX_PLATFORM_RUN_LOCK_H_
#define TIM_VX_PLATFORM_RUN_LOCK_H_

#include <memory>
#include <mutex>
#include <utility>

#include "base/fork/per_process.h"
#include "runtime/run_event.h"

namespace tim::vx::platform {

/// Held for whole runs, but for those that the devices do by themselves, which
/// it knows; free in a process that is forked off meanwhile.
class RunLock {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Event = std::shared_ptr<runtime::RunEvent>;

  /// For whoever uses the tensors' memory: no run is in flight.
  Lock Take() {
    Lock lock = TakeBesideRun();
    State& state = state_.Get();
    if (state.run != nullptr) static_cast<void>(state.run->Wait());
    state.run = nullptr;
    return lock;
  }
  /// For the rest: the devices may be at work.
  Lock TakeBesideRun() { return Lock(state_.Get().mutex); }
  /// The same without a wait; not locked where somebody else has it.
  Lock TryTakeBesideRun() { return Lock(state_.Get().mutex, std::try_to_lock); }

  /// The run that was handed to the devices last, or null.  The caller has the
  /// lock.
  Event run() { return state_.Get().run; }
  void SetRun(Event run) { state_.Get().run = std::move(run); }

 private:
  struct State {
    std::mutex mutex;
    Event run;
  };
  PerProcess<State> state_;
};

}  // namespace tim::vx::platform

#endif  // TIM_VX_PLATFORM_RUN_LOCK_H_
