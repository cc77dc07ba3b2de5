// Runs that are in flight: which context each has, and who ends it.
#include "runtime/context_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/fork/fork.h"
#include "base/guarded.h"
#include "base/trace.h"
#include "base/worker.h"
#include "runtime/execution_context.h"

namespace tim::runtime {
namespace {

using Waits = std::vector<std::shared_ptr<RunEvent>>;

/// A context, and the thread of its runs that block.
struct Slot {
  std::unique_ptr<ExecutionContext> context;
  bool busy = true;
  Worker worker;
};

class PooledRun;

}  // namespace

class ContextPool::State final
    : public std::enable_shared_from_this<ContextPool::State> {
 public:
  State(std::shared_ptr<const Executable> executable, int max_in_flight)
      : executable_(std::move(executable)),
        max_in_flight_(std::max(1, max_in_flight)),
        limit_(static_cast<size_t>(max_in_flight_)) {}

  Result<std::shared_ptr<RunEvent>> Enqueue(RunPorts ports,
                                            std::shared_ptr<StateSet> states,
                                            Waits waits, RunCalls calls);
  Status Run(std::span<const PortMemory> inputs,
             std::span<const PortMemory> outputs, StateSet* states);
  /// A context that is free.
  void Add(std::unique_ptr<ExecutionContext> context) {
    const std::lock_guard lock(mutex_);
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->context = std::move(context);
    slots_.back()->busy = false;
  }
  /// A context that nobody else has until Free().
  Result<Slot*> Acquire();
  void Free(Slot* slot, const Status& how_it_went);
  void Drain();
  void Release(const void* memory);
  int contexts() const;

  /// `run` has ended.
  void Remove(const PooledRun* run);
  Status Call(std::function<void()> call) {
    return callbacks_.Post(std::move(call));
  }

  bool IsOfThisProcess() const { return forks_ == Forks(); }
  /// An empty one of the same executable.
  std::shared_ptr<State> Anew() const {
    return std::make_shared<State>(executable_, max_in_flight_);
  }

 private:
  using Runs = std::vector<std::shared_ptr<PooledRun>>;
  using Slots = std::vector<std::unique_ptr<Slot>>;

  Status Start(const std::shared_ptr<PooledRun>& run);
  Status Post(const std::shared_ptr<PooledRun>& run, StateSet* states,
              Waits waits, Worker& worker);
  // The lock is held; Take() gives null where all are in use.
  Slot* Take();
  Slots Trim();
  Status MakeOneMore(std::unique_lock<std::mutex>& lock, Slot** made);

  const std::shared_ptr<const Executable> executable_;
  const uint32_t forks_ = Forks();
  const int max_in_flight_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  size_t limit_;  // of contexts
  Slots slots_;
  size_t busy_ = 0;
  size_t peak_ = 0;  // most that were busy since none was
  Runs in_flight_;   // oldest first
  Status lost_;
  Worker callbacks_;
};

namespace {

class PooledRun final : public RunEvent,
                        public std::enable_shared_from_this<PooledRun> {
 public:
  using Pool = ContextPool::State;
  /// Who does the run: the devices by themselves, or the slot's thread.
  enum class Mode : uint8_t { kOnDevices, kOnThread };

  PooledRun(std::shared_ptr<Pool> pool, Slot* slot, RunPorts ports,
            std::shared_ptr<StateSet> states, RunCalls calls, Mode mode)
      : pool_(std::move(pool)),
        slot_(slot),
        ports_(std::move(ports)),
        states_(std::move(states)),
        calls_(std::move(calls)),
        on_devices_(mode == Mode::kOnDevices) {}

  /// Hands it to the devices; whoever waits ends it.
  Status Start() {
    if (calls_.begin != nullptr) calls_.begin();
    return slot_->context->Enqueue(ports_.inputs, ports_.outputs, nullptr);
  }

  /// Does all of it, after the runs of `waits`, which must not have failed, and
  /// after `previous`, which may be null.
  void Execute(const Waits& waits, const std::shared_ptr<RunEvent>& previous) {
    if (previous != nullptr) static_cast<void>(previous->Wait());
    Status status;
    for (const auto& wait : waits) {
      const Status ended = wait->Wait();
      if (status.ok()) status = ended.WithContext("a run that this one awaits");
    }
    if (status.ok()) {
      const TraceSpan span("run", "Run", slot_->context->graph());
      status = GuardedCall([&] {
        if (calls_.begin != nullptr) calls_.begin();
        return slot_->context->Run(ports_.inputs, ports_.outputs,
                                   states_.get());
      });
    }
    const std::lock_guard lock(mutex_);
    End(std::move(status));
  }

  Status Wait() override {
    if (forks_ != Forks()) return OfAnotherProcess();
    const TraceSpan span("wait", "wait for a run");
    std::unique_lock lock(mutex_);
    if (on_devices_) {
      if (!ended_) End(slot_->context->Wait());
    } else {
      changed_.wait(lock, [this] { return ended_.load(); });
    }
    return status_;
  }

  bool Ready() override {
    if (ended_ || forks_ != Forks()) return true;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !on_devices_) return ended_;
    if (!ended_ && slot_->context->Ready()) End(slot_->context->Wait());
    return ended_;
  }

  void Then(Call call) override {
    if (forks_ != Forks()) return call(OfAnotherProcess());
    std::shared_ptr<Pool> pool;
    {
      const std::lock_guard lock(mutex_);
      pool = pool_;
    }
    const auto tell = [run = shared_from_this(), call = std::move(call)] {
      const Status status = run->Wait();
      const TraceSpan span("callback", "Then");
      call(status);
    };
    // Where there is no thread the caller waits.
    if (pool == nullptr || !pool->Call(tell).ok()) tell();
  }

 private:
  static Status OfAnotherProcess() {
    return FailedPrecondition(
        "the run was in flight when this process was forked off; only the "
        "process that started it sees how it ends");
  }

  // The lock is held.  Called once.
  void End(Status status) {
    const RunCalls calls = std::exchange(calls_, {});
    if (calls.end != nullptr) {
      status = GuardedCall([&] { return calls.end(status); });
    }
    // The memory may be freed from now on.
    for (const auto& input : ports_.inputs) slot_->context->Release(input.host);
    for (const auto& output : ports_.outputs) {
      slot_->context->Release(output.host);
    }
    ports_ = {};
    states_.reset();
    status_ = std::move(status);
    const std::shared_ptr<Pool> pool = std::move(pool_);
    pool->Remove(this);
    pool->Free(std::exchange(slot_, nullptr), status_);
    ended_ = true;
    changed_.notify_all();
  }

  const uint32_t forks_ = Forks();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> ended_ = false;
  Status status_;
  // None of these once it has ended.
  std::shared_ptr<Pool> pool_;
  Slot* slot_ = nullptr;
  RunPorts ports_;
  std::shared_ptr<StateSet> states_;
  RunCalls calls_;
  const bool on_devices_;
};

bool HasSucceeded(const std::shared_ptr<RunEvent>& run) {
  return run->Ready() && run->Wait().ok();
}

}  // namespace

Slot* ContextPool::State::Take() {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->busy) continue;
    slot->busy = true;
    peak_ = std::max(peak_, ++busy_);
    return slot.get();
  }
  return nullptr;
}

// Where there is no memory for one more, those that there are must do.  All but
// the first come and go.
Status ContextPool::State::MakeOneMore(std::unique_lock<std::mutex>& lock,
                                       Slot** made) {
  slots_.push_back(std::make_unique<Slot>());
  Slot* const slot = slots_.back().get();
  peak_ = std::max(peak_, ++busy_);
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
  std::erase_if(slots_, [&](const auto& known) { return known.get() == slot; });
  --busy_;
  if (slots_.empty()) return context.status();
  limit_ = slots_.size();
  return OkStatus();
}

Result<Slot*> ContextPool::State::Acquire() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!lost_.ok()) return lost_;
    if (Slot* const slot = Take()) return slot;
    const Runs runs = in_flight_;
    lock.unlock();
    const auto ended = std::count_if(
        runs.begin(), runs.end(), [](const auto& run) { return run->Ready(); });
    lock.lock();
    if (ended != 0) continue;
    if (slots_.size() < limit_) {
      Slot* slot = nullptr;
      TIM_RETURN_IF_ERROR(MakeOneMore(lock, &slot));
      if (slot != nullptr) return slot;
    } else if (runs.empty()) {
      freed_.wait(lock, [this] { return busy_ < slots_.size(); });
    } else {
      lock.unlock();
      static_cast<void>(runs.front()->Wait());
      lock.lock();
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
    slot->busy = false;
    --busy_;
    idle = Trim();
    freed_.notify_all();
  }
}

void ContextPool::State::Remove(const PooledRun* run) {
  const std::lock_guard lock(mutex_);
  std::erase_if(in_flight_,
                [run](const auto& known) { return known.get() == run; });
}

Result<std::shared_ptr<RunEvent>> ContextPool::State::Enqueue(
    RunPorts ports, std::shared_ptr<StateSet> states, Waits waits,
    RunCalls calls) {
  std::erase_if(waits, HasSucceeded);
  TIM_ASSIGN_OR_RETURN(Slot * slot, Acquire());
  Status status =
      slot->context->Check(ports.inputs, ports.outputs, states.get());
  if (!status.ok()) {
    Free(slot, status);
    return status;
  }
  using Mode = PooledRun::Mode;
  const bool waits_for = states != nullptr || !waits.empty();
  const Mode mode =
      waits_for || slot->context->blocks() ? Mode::kOnThread : Mode::kOnDevices;
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

// Nobody else knows the run before it has started.
Status ContextPool::State::Start(const std::shared_ptr<PooledRun>& run) {
  TIM_RETURN_IF_ERROR(GuardedCall([&] { return run->Start(); }));
  const std::lock_guard lock(mutex_);
  in_flight_.push_back(run);
  return OkStatus();
}

Status ContextPool::State::Post(const std::shared_ptr<PooledRun>& run,
                                StateSet* states, Waits waits, Worker& worker) {
  {
    const std::lock_guard lock(mutex_);
    in_flight_.push_back(run);
  }
  const auto previous = states != nullptr ? states->Follow(run) : nullptr;
  const Status posted = worker.Post([run, previous, waits = std::move(waits)] {
    run->Execute(waits, previous);
  });
  if (posted.ok()) return posted;
  Remove(run.get());
  if (states != nullptr) states->Follow(previous);
  return posted;
}

Status ContextPool::State::Run(std::span<const PortMemory> inputs,
                               std::span<const PortMemory> outputs,
                               StateSet* states) {
  if (states != nullptr) states->WaitForRun();
  TIM_ASSIGN_OR_RETURN(Slot * slot, Acquire());
  const Status status =
      GuardedCall([&] { return slot->context->Run(inputs, outputs, states); });
  Free(slot, status);
  return status;
}

void ContextPool::State::Drain() {
  std::unique_lock lock(mutex_);
  while (!in_flight_.empty()) {
    const std::shared_ptr<PooledRun> oldest = in_flight_.front();
    lock.unlock();
    static_cast<void>(oldest->Wait());
    lock.lock();
  }
}

void ContextPool::State::Release(const void* memory) {
  Drain();
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Slot>& slot : slots_) {
    slot->context->Release(memory);
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
  auto state = std::make_shared<State>(std::move(executable), max_in_flight);
  state->Add(std::move(first));
  return std::unique_ptr<ContextPool>(new ContextPool(std::move(state)));
}

Result<std::shared_ptr<RunEvent>> ContextPool::Enqueue(
    RunPorts ports, std::shared_ptr<StateSet> states,
    std::vector<std::shared_ptr<RunEvent>> waits, RunCalls calls) {
  return Own().Enqueue(std::move(ports), std::move(states), std::move(waits),
                       std::move(calls));
}

Status ContextPool::Run(std::span<const PortMemory> inputs,
                        std::span<const PortMemory> outputs, StateSet* states) {
  return Own().Run(inputs, outputs, states);
}

void ContextPool::Drain() { Own().Drain(); }

void ContextPool::Release(const void* memory) { Own().Release(memory); }

int ContextPool::contexts() const { return Own().contexts(); }

}  // namespace tim::runtime
