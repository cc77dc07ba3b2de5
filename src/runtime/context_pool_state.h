// The part of a context pool that runs share with it.
#ifndef TIM_RUNTIME_CONTEXT_POOL_STATE_H_
#define TIM_RUNTIME_CONTEXT_POOL_STATE_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/fork/fork.h"
#include "base/status.h"
#include "base/worker.h"
#include "ir/plan.h"
#include "runtime/context_pool.h"
#include "runtime/execution_context.h"
#include "runtime/pooled_run.h"
#include "runtime/shared_arenas.h"

namespace tim::runtime {

/// Contexts and the runs that have them.  Any thread.
class ContextPool::State final
    : public RunOwner,
      public std::enable_shared_from_this<ContextPool::State> {
 public:
  using Waits = PooledRun::Waits;
  using Slot = ContextSlot;

  /// Who asks for a context may have to wait until one is made, or until a run
  /// has ended.
  enum class Patience : uint8_t { kWaits, kNone };

  /// \param shared where runs have their arenas from; null: contexts have some.
  /// \param blocks whether the plan has work that a thread must do.
  State(std::shared_ptr<const Executable> executable,
        std::shared_ptr<SharedArenas> shared, int max_in_flight, bool blocks)
      : executable_(std::move(executable)),
        shared_(std::move(shared)),
        max_in_flight_(std::max(1, max_in_flight)),
        blocks_(blocks),
        calls_clients_(blocks && CallsClients(executable_->plan())),
        limit_(static_cast<size_t>(max_in_flight_)) {}

  /// Null where nothing is reserved and no context is free without patience.
  Result<std::shared_ptr<RunEvent>> Enqueue(RunPorts ports,
                                            std::shared_ptr<StateSet> states,
                                            Waits waits, RunCalls calls,
                                            Patience patience,
                                            Reservation reserved = {});
  Result<Reservation> WaitForContext();
  Result<std::shared_ptr<RunEvent>> TryEnqueue(RunPorts ports, Waits after,
                                               RunCalls calls);
  Status Run(std::span<const PortMemory> inputs,
             std::span<const PortMemory> outputs, StateSet* states,
             GivenArenas arenas);
  /// A context that is free.
  void Add(std::unique_ptr<ExecutionContext> context) {
    const std::lock_guard lock(mutex_);
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->context = std::move(context);
    slots_.back()->busy = false;
  }
  /// A context that nobody else has until Free(); null where there is none
  /// without patience.
  Result<Slot*> Acquire(Patience patience = Patience::kWaits);
  void Free(Slot* slot, const Status& how_it_went);
  void Drain();
  void Release(const void* memory);
  int contexts() const;

  void Ended(const PooledRun* run, Slot* slot,
             const Status& how_it_went) override {
    Remove(run);
    Free(slot, how_it_went);
  }
  Status Call(std::function<void()> call) override {
    return callbacks_.Post(std::move(call));
  }

  bool IsOfThisProcess() const { return forks_ == Forks(); }
  /// An empty one of the same executable.
  std::shared_ptr<State> Anew() const {
    return std::make_shared<State>(executable_, shared_, max_in_flight_,
                                   blocks_);
  }

 private:
  using Runs = PooledRun::Runs;
  using Slots = std::vector<std::unique_ptr<Slot>>;

  // Runs that are started inside of others do not wait for those to end.
  enum class Origin : uint8_t { kOutside, kInside };

  // Whether steps may call functions of clients.
  static bool CallsClients(const ir::Plan& plan);
  Status Start(const std::shared_ptr<PooledRun>& run, Slot* slot,
               Runs after = {});
  void Remove(const PooledRun* run);
  Status Post(const std::shared_ptr<PooledRun>& run, StateSet* states,
              Waits waits, Slot* slot);
  // The lock is held; Take() gives null where all are in use.
  void AddInFlight(const std::shared_ptr<PooledRun>& run);
  bool HasRoom(Origin origin) const {
    return origin == Origin::kInside ? inside_ < kMaxInside
                                     : busy_ - inside_ < limit_ + beyond_;
  }
  void SetBusy(Slot* slot, Origin origin);
  void SetFree(Slot* slot);
  Slot* Take(Origin origin);
  Slots Trim();
  // The slot gets the arenas of a run that is given none, where it has none.
  // False where there is no memory for them without patience.
  Result<bool> TakeArenas(Slot* slot, GivenArenas given,
                          Patience patience) const;
  Result<bool> GiveArenas(Slot* slot, RunPorts* ports, Patience patience) const;
  SharedArenas::Ends EndsOnThread() const {
    return calls_clients_ ? SharedArenas::Ends::kByClients
                          : SharedArenas::Ends::kByItself;
  }
  Status MakeOneMore(std::unique_lock<std::mutex>& lock, Origin origin,
                     Slot** made);
  void WaitForRoom(std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<const Executable> executable_;
  const std::shared_ptr<SharedArenas> shared_;
  const uint32_t forks_ = Forks();
  const int max_in_flight_;
  const bool blocks_;
  const bool calls_clients_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  size_t limit_;        // of contexts whose runs were started outside of others
  size_t beyond_ = 0;   // contexts beyond that, see WaitForRoom()
  uint64_t frees_ = 0;  // of contexts so far
  Slots slots_;
  size_t busy_ = 0;
  size_t inside_ = 0;  // those of busy_ that were started inside of runs
  size_t peak_ = 0;    // most that were busy since none was
  Runs in_flight_;     // oldest first
  // Size of in_flight_, for those who find none without the lock.
  std::atomic<size_t> in_flight_count_ = 0;
  Status lost_;
  Worker callbacks_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CONTEXT_POOL_STATE_H_
