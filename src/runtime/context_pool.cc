// Runs that are in flight: which context each has, and who ends it.
#include "runtime/context_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/fork/fork.h"
#include "base/guarded.h"
#include "base/worker.h"
#include "runtime/execution_context.h"
#include "runtime/inside_run.h"
#include "runtime/pooled_run.h"

namespace tim::runtime {

using Waits = PooledRun::Waits;
using Slot = ContextSlot;
class ContextPool::State final
    : public RunOwner,
      public std::enable_shared_from_this<ContextPool::State> {
 public:
  /// Who asks for a context may have to wait until one is made, or until a run
  /// has ended.
  enum class Patience : uint8_t { kWaits, kNone };

  /// \param blocks whether the plan has work that a thread must do.
  State(std::shared_ptr<const Executable> executable, int max_in_flight,
        bool blocks)
      : executable_(std::move(executable)),
        max_in_flight_(std::max(1, max_in_flight)),
        blocks_(blocks),
        limit_(static_cast<size_t>(max_in_flight_)) {}

  /// Null where no context is free without patience.
  Result<std::shared_ptr<RunEvent>> Enqueue(RunPorts ports,
                                            std::shared_ptr<StateSet> states,
                                            Waits waits, RunCalls calls,
                                            Patience patience);
  Status WaitForContext() {
    TIM_ASSIGN_OR_RETURN(Slot * slot, Acquire());
    Free(slot, OkStatus());
    return OkStatus();
  }
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
    return std::make_shared<State>(executable_, max_in_flight_, blocks_);
  }

 private:
  using Runs = PooledRun::Runs;
  using Slots = std::vector<std::unique_ptr<Slot>>;

  // Runs that are started inside of others do not wait for those to end.
  enum class Origin : uint8_t { kOutside, kInside };

  Status Start(const std::shared_ptr<PooledRun>& run, Runs after = {});
  void Remove(const PooledRun* run);
  Status Post(const std::shared_ptr<PooledRun>& run, StateSet* states,
              Waits waits, Worker& worker);
  // The lock is held; Take() gives null where all are in use.
  void AddInFlight(const std::shared_ptr<PooledRun>& run);
  bool HasRoom(Origin origin) const {
    return origin == Origin::kInside ? inside_ < kMaxInside
                                     : busy_ - inside_ < limit_;
  }
  void SetBusy(Slot* slot, Origin origin);
  void SetFree(Slot* slot);
  Slot* Take(Origin origin);
  Slots Trim();
  Status MakeOneMore(std::unique_lock<std::mutex>& lock, Origin origin,
                     Slot** made);
  void WaitForRoom(std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<const Executable> executable_;
  const uint32_t forks_ = Forks();
  const int max_in_flight_;
  const bool blocks_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  size_t limit_;  // of contexts whose runs were started outside of others
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

namespace {

bool HasSucceeded(const std::shared_ptr<RunEvent>& run) {
  return run->Ready() && run->Wait().ok();
}

Status CheckOutsideRunOf(const StateSet& states) {
  if (!IsInsideRunOf(states)) return OkStatus();
  return FailedPrecondition(
      "inside a function that a run calls: a run of the same states starts "
      "only after it has returned");
}

}  // namespace

void ContextPool::State::SetBusy(Slot* slot, Origin origin) {
  slot->busy = true;
  slot->is_inside = origin == Origin::kInside;
  if (slot->is_inside) ++inside_;
  peak_ = std::max(peak_, ++busy_);
}

void ContextPool::State::SetFree(Slot* slot) {
  slot->busy = false;
  for (const void* memory : std::exchange(slot->released, {})) {
    if (slot->context != nullptr) slot->context->Release(memory);
  }
  if (std::exchange(slot->is_inside, false)) --inside_;
  --busy_;
}

Slot* ContextPool::State::Take(Origin origin) {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->busy) continue;
    SetBusy(slot.get(), origin);
    return slot.get();
  }
  return nullptr;
}

// Where there is no memory for one more, those that there are must do.  All but
// the first come and go.
Status ContextPool::State::MakeOneMore(std::unique_lock<std::mutex>& lock,
                                       Origin origin, Slot** made) {
  slots_.push_back(std::make_unique<Slot>());
  Slot* const slot = slots_.back().get();
  SetBusy(slot, origin);
  const ArenaMemory arenas =
      slots_.size() == 1 ? ArenaMemory::kOwn : ArenaMemory::kPooled;
  lock.unlock();
  auto context = ExecutionContext::Create(executable_, nullptr, arenas);
  lock.lock();
  if (context.ok()) {
    slot->context = *std::move(context);
    *made = slot;
    return OkStatus();
  }
  SetFree(slot);
  std::erase_if(slots_, [&](const auto& known) { return known.get() == slot; });
  if (origin == Origin::kInside || busy_ == inside_) return context.status();
  limit_ = busy_ - inside_;
  return OkStatus();
}

void ContextPool::State::WaitForRoom(std::unique_lock<std::mutex>& lock) {
  if (in_flight_.empty()) {
    freed_.wait(lock, [this] { return HasRoom(Origin::kOutside); });
    return;
  }
  const std::shared_ptr<PooledRun> oldest = in_flight_.front();
  lock.unlock();
  static_cast<void>(oldest->Wait());
  lock.lock();
}

Result<Slot*> ContextPool::State::Acquire(Patience patience) {
  const Origin origin = IsInsideAnyRun() ? Origin::kInside : Origin::kOutside;
  std::unique_lock lock(mutex_);
  while (true) {
    if (!lost_.ok()) return lost_;
    Slot* slot = HasRoom(origin) ? Take(origin) : nullptr;
    if (slot != nullptr) return slot;
    const Runs runs = in_flight_;
    lock.unlock();
    const auto ended = std::count_if(
        runs.begin(), runs.end(), [](const auto& run) { return run->Ready(); });
    lock.lock();
    if (ended != 0) continue;
    if (patience == Patience::kNone) return nullptr;
    if (HasRoom(origin)) {
      TIM_RETURN_IF_ERROR(MakeOneMore(lock, origin, &slot));
      if (slot != nullptr) return slot;
    } else if (origin == Origin::kInside) {
      return FailedPrecondition(
          "inside a holder, or another function that a run calls, ", inside_,
          " runs of graph ", executable_->plan().graph,
          " are in flight; let functions that start runs of their own graph "
          "end, or wait for some of those runs");
    } else {
      WaitForRoom(lock);
    }
  }
}

// As many as were in use at a time since the pool was idle last.
ContextPool::State::Slots ContextPool::State::Trim() {
  Slots idle;
  if (busy_ != 0) return idle;
  const size_t kept = std::max<size_t>(1, std::exchange(peak_, 0));
  while (slots_.size() > kept) {
    idle.push_back(std::move(slots_.back()));
    slots_.pop_back();
  }
  return idle;
}

void ContextPool::State::Free(Slot* slot, const Status& how_it_went) {
  Slots idle;
  {
    const std::lock_guard lock(mutex_);
    if (how_it_went.code() == StatusCode::kDeviceLost) lost_ = how_it_went;
    SetFree(slot);
    idle = Trim();
    freed_.notify_all();
  }
}

void ContextPool::State::AddInFlight(const std::shared_ptr<PooledRun>& run) {
  in_flight_.push_back(run);
  in_flight_count_.store(in_flight_.size(), std::memory_order_release);
}

void ContextPool::State::Remove(const PooledRun* run) {
  const std::lock_guard lock(mutex_);
  std::erase_if(in_flight_,
                [run](const auto& known) { return known.get() == run; });
  in_flight_count_.store(in_flight_.size(), std::memory_order_release);
}

Result<std::shared_ptr<RunEvent>> ContextPool::State::Enqueue(
    RunPorts ports, std::shared_ptr<StateSet> states, Waits waits,
    RunCalls calls, Patience patience) {
  if (states != nullptr) TIM_RETURN_IF_ERROR(CheckOutsideRunOf(*states));
  std::erase_if(waits, HasSucceeded);
  TIM_ASSIGN_OR_RETURN(Slot * slot, Acquire(patience));
  if (slot == nullptr) return std::shared_ptr<RunEvent>();
  Status status = slot->context->Check(ports.inputs, ports.outputs,
                                       states.get(), ports.arenas);
  if (!status.ok()) {
    Free(slot, status);
    return status;
  }
  using Mode = PooledRun::Mode;
  const bool waits_for = states != nullptr || !waits.empty();
  const Mode mode = waits_for || blocks_ ? Mode::kOnThread : Mode::kOnDevices;
  const auto run =
      std::make_shared<PooledRun>(shared_from_this(), slot, std::move(ports),
                                  states, std::move(calls), mode);
  status = mode == Mode::kOnDevices
               ? Start(run)
               : Post(run, states.get(), std::move(waits), slot->worker);
  if (status.ok()) return std::shared_ptr<RunEvent>(run);
  Free(slot, status);
  return status;
}

Result<std::shared_ptr<RunEvent>> ContextPool::State::TryEnqueue(
    RunPorts ports, Waits after, RunCalls calls) {
  std::erase_if(after, [](const auto& run) { return run->Ready(); });
  Runs before;
  for (const auto& run : after) {
    before.push_back(std::dynamic_pointer_cast<PooledRun>(run));
    if (before.back() == nullptr || !before.back()->on_devices()) {
      return std::shared_ptr<RunEvent>();
    }
  }
  if (blocks_) return std::shared_ptr<RunEvent>();
  TIM_ASSIGN_OR_RETURN(Slot * slot, Acquire(Patience::kNone));
  if (slot == nullptr) return std::shared_ptr<RunEvent>();
  Status status =
      slot->context->Check(ports.inputs, ports.outputs, nullptr, ports.arenas);
  if (status.ok()) {
    const auto run = std::make_shared<PooledRun>(
        shared_from_this(), slot, std::move(ports), nullptr, std::move(calls),
        PooledRun::Mode::kOnDevices);
    status = Start(run, std::move(before));
    if (status.ok()) return std::shared_ptr<RunEvent>(run);
  }
  Free(slot, status);
  if (status.code() != StatusCode::kUnimplemented) return status;
  return std::shared_ptr<RunEvent>();
}

Status ContextPool::State::Start(const std::shared_ptr<PooledRun>& run,
                                 Runs after) {
  TIM_RETURN_IF_ERROR(
      GuardedCall([&] { return run->Start(std::move(after)); }));
  const std::lock_guard lock(mutex_);
  AddInFlight(run);
  return OkStatus();
}

Status ContextPool::State::Post(const std::shared_ptr<PooledRun>& run,
                                StateSet* states, Waits waits, Worker& worker) {
  {
    const std::lock_guard lock(mutex_);
    AddInFlight(run);
  }
  const auto previous = states != nullptr ? states->Follow(run) : nullptr;
  run->Await(std::move(waits), previous);
  const Status posted = worker.Post([run] { run->Execute(); });
  if (posted.ok()) return posted;
  Remove(run.get());
  if (states != nullptr) states->Follow(previous);
  return posted;
}

Status ContextPool::State::Run(std::span<const PortMemory> inputs,
                               std::span<const PortMemory> outputs,
                               StateSet* states, GivenArenas arenas) {
  if (states != nullptr) {
    TIM_RETURN_IF_ERROR(CheckOutsideRunOf(*states));
    TIM_RETURN_IF_ERROR(states->WaitForRun());
  }
  TIM_ASSIGN_OR_RETURN(Slot * slot, Acquire());
  std::optional<InsideRun> inside;  // where it calls functions of clients
  if (blocks_) inside.emplace(RunAtWork{executable_.get(), states});
  const Status status = GuardedCall(
      [&] { return slot->context->Run(inputs, outputs, states, arenas); });
  inside.reset();
  Free(slot, status);
  return status;
}

void ContextPool::State::Drain() {
  if (in_flight_count_.load(std::memory_order_acquire) == 0) return;
  while (true) {
    std::unique_lock lock(mutex_);
    const Runs runs = in_flight_;
    lock.unlock();
    const auto oldest =
        std::find_if(runs.begin(), runs.end(),
                     [](const auto& run) { return !IsInside(*run); });
    if (oldest == runs.end()) return;
    static_cast<void>((*oldest)->Wait());
  }
}

void ContextPool::State::Release(const void* memory) {
  Drain();
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->busy) {
      slot->released.push_back(memory);
    } else {
      slot->context->Release(memory);
    }
  }
}

int ContextPool::State::contexts() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(slots_.size());
}

ContextPool::ContextPool(std::shared_ptr<State> state)
    : state_(std::move(state)) {}

ContextPool::~ContextPool() { Own().Drain(); }

// Runs of the other process are left as they are: nothing here ends them, and
// their locks may be held.
ContextPool::State& ContextPool::Own() const {
  if (!state_->IsOfThisProcess()) {
    auto own = state_->Anew();
    static_cast<void>(new std::shared_ptr<State>(std::move(state_)));
    state_ = std::move(own);
  }
  return *state_;
}

std::unique_ptr<ContextPool> ContextPool::Create(
    std::shared_ptr<const Executable> executable,
    std::unique_ptr<ExecutionContext> first, int max_in_flight) {
  auto state = std::make_shared<State>(std::move(executable), max_in_flight,
                                       first->blocks());
  state->Add(std::move(first));
  return std::unique_ptr<ContextPool>(new ContextPool(std::move(state)));
}

Result<std::shared_ptr<RunEvent>> ContextPool::Enqueue(
    RunPorts ports, std::shared_ptr<StateSet> states,
    std::vector<std::shared_ptr<RunEvent>> waits, RunCalls calls) {
  return Own().Enqueue(std::move(ports), std::move(states), std::move(waits),
                       std::move(calls), State::Patience::kWaits);
}

Result<std::shared_ptr<RunEvent>> ContextPool::EnqueueIfFree(
    RunPorts ports, std::shared_ptr<StateSet> states,
    std::vector<std::shared_ptr<RunEvent>> waits, RunCalls calls) {
  return Own().Enqueue(std::move(ports), std::move(states), std::move(waits),
                       std::move(calls), State::Patience::kNone);
}

Status ContextPool::WaitForContext() { return Own().WaitForContext(); }

Result<std::shared_ptr<RunEvent>> ContextPool::TryEnqueue(
    RunPorts ports, std::vector<std::shared_ptr<RunEvent>> after,
    RunCalls calls) {
  return Own().TryEnqueue(std::move(ports), std::move(after), std::move(calls));
}

Status ContextPool::Run(std::span<const PortMemory> inputs,
                        std::span<const PortMemory> outputs, StateSet* states,
                        GivenArenas arenas) {
  return Own().Run(inputs, outputs, states, arenas);
}

void ContextPool::Drain() { Own().Drain(); }

void ContextPool::Release(const void* memory) { Own().Release(memory); }

int ContextPool::contexts() const { return Own().contexts(); }

}  // namespace tim::runtime
