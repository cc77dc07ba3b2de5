// One run of a ContextPool, from its start to its end.
#ifndef TIM_RUNTIME_POOLED_RUN_H_
#define TIM_RUNTIME_POOLED_RUN_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fork/fork.h"
#include "base/status.h"
#include "base/worker.h"
#include "runtime/context_pool.h"
#include "runtime/execution_context.h"
#include "runtime/inside_run.h"
#include "runtime/run_event.h"
#include "runtime/shared_arenas.h"
#include "runtime/state_set.h"

namespace tim::runtime {

class PooledRun;

/// A context, and the thread of its runs that block.
struct ContextSlot {
  std::unique_ptr<ExecutionContext> context;
  bool busy = true;
  bool is_inside = false;  ///< Busy with a run that was started inside of one.
  /// Memory that the context lets go of when it is free.
  std::vector<const void*> released;
  /// Arenas of the run that has the context, where it has none itself.
  std::unique_ptr<SharedArenas::Lease> arenas;
  Worker worker;
};

/// Needs of a run from its pool, which it keeps until it has ended.  Any
/// thread.
class RunOwner {
 public:
  virtual ~RunOwner() = default;
  /// `run` has ended, and the slot is free.
  virtual void Ended(const PooledRun* run, ContextSlot* slot,
                     const Status& how_it_went) = 0;
  /// Has a thread make the call.
  virtual Status Call(std::function<void()> call) = 0;
};

class PooledRun final : public RunEvent,
                        public std::enable_shared_from_this<PooledRun> {
 public:
  using Waits = std::vector<std::shared_ptr<RunEvent>>;
  using Runs = std::vector<std::shared_ptr<PooledRun>>;
  /// Who does the run: the devices by themselves, or the slot's thread.
  enum class Mode : uint8_t { kOnDevices, kOnThread };

  PooledRun(std::shared_ptr<RunOwner> owner, ContextSlot* slot, RunPorts ports,
            std::shared_ptr<StateSet> states, RunCalls calls, Mode mode)
      : owner_(std::move(owner)),
        slot_(slot),
        ports_(std::move(ports)),
        states_(std::move(states)),
        calls_(std::move(calls)),
        on_devices_(mode == Mode::kOnDevices) {}

  /// kOnDevices: hands it to the devices, which start it when those of
  /// `after`, all of kOnDevices, have ended, however; whoever waits ends it.
  /// kUnimplemented, and no run, where the devices cannot wait for them.
  Status Start(Runs after = {});
  /// kOnThread: the run comes after those of `waits`, which must not have
  /// failed, and after `previous`, which may be null.
  void Await(Waits waits, std::shared_ptr<RunEvent> previous);
  /// kOnThread: waits for those, and does all of it.
  void Execute();

  bool on_devices() const { return on_devices_; }

  Status Wait() override;
  bool Ready() override;
  void Then(Call call) override;
  Waits Awaited() override;

 private:
  static Status OfAnotherProcess();
  // Work that is enqueued in `next` from now on starts after this run.
  Status Precede(ExecutionContext& next);
  // kOnDevices: the lock is held, and let go while the devices work.
  void Finish(std::unique_lock<std::mutex>& lock);
  // The lock is held.  Called once.
  void End(Status status);

  const uint32_t forks_ = Forks();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> ended_ = false;
  bool finishing_ = false;  // a thread is in Finish()
  std::atomic<bool> failed_on_devices_ = false;
  Status status_;
  // None of these once it has ended.
  std::shared_ptr<RunOwner> owner_;
  ContextSlot* slot_ = nullptr;
  RunPorts ports_;
  std::shared_ptr<StateSet> states_;
  RunCalls calls_;
  Runs after_;
  Waits waits_;
  std::shared_ptr<RunEvent> previous_;
  AwaitedInside inside_;
  const bool on_devices_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_POOLED_RUN_H_
