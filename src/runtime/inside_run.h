// Threads that are in the middle of a run.
#ifndef TIM_RUNTIME_INSIDE_RUN_H_
#define TIM_RUNTIME_INSIDE_RUN_H_

#include <chrono>
#include <memory>
#include <mutex>

#include "runtime/run_event.h"

namespace tim::runtime {

class Executable;
class StateSet;

/// Time without a change after which runs that call functions of clients are
/// taken to wait for each other.
inline constexpr std::chrono::milliseconds kStandstill{250};

/// The run that a run's steps wait for, as where a function that they call
/// waits for one.  Any thread.
class AwaitedInside {
 public:
  void Set(std::shared_ptr<RunEvent> run) {
    const std::lock_guard lock(mutex_);
    run_.swap(run);
  }
  std::shared_ptr<RunEvent> Get() const {
    const std::lock_guard lock(mutex_);
    return run_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<RunEvent> run_;
};

/// A run whose steps a thread does.
struct RunAtWork {
  const Executable* executable = nullptr;
  const StateSet* states = nullptr;  ///< Null: the run has none.
  const RunEvent* event = nullptr;   ///< Null: the run has none.
  AwaitedInside* awaited = nullptr;  ///< That of the event.
};

/// Whether this thread does steps of a run.
bool IsInsideAnyRun();
/// Whether this thread does steps of the run, or of one that the run awaits:
/// whoever waits for it here waits for ever.
bool IsInside(RunEvent& run);
/// Whether this thread does steps of a run of the executable, or one that uses
/// the states.
bool IsInsideRunOf(const Executable& executable);
bool IsInsideRunOf(const StateSet& states);

/// Steps of a run, done by this thread while it lives.
class InsideRun {
 public:
  explicit InsideRun(const RunAtWork& work);
  ~InsideRun();
  InsideRun(const InsideRun&) = delete;
  InsideRun& operator=(const InsideRun&) = delete;

  const RunAtWork& work() const { return work_; }
  const InsideRun* outer() const { return outer_; }

 private:
  const RunAtWork work_;
  const InsideRun* const outer_;
};

/// A wait of this thread for a run, which the runs that it is inside of await
/// while this lives.
class WaitInside {
 public:
  explicit WaitInside(const std::shared_ptr<RunEvent>& run) { Set(run); }
  ~WaitInside() { Set(nullptr); }
  WaitInside(const WaitInside&) = delete;
  WaitInside& operator=(const WaitInside&) = delete;

 private:
  static void Set(const std::shared_ptr<RunEvent>& run);
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_INSIDE_RUN_H_
