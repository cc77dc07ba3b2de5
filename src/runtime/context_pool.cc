// Runs that are in flight: which context each has, and who ends it.
#include "runtime/context_pool.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "runtime/context_pool_state.h"
#include "runtime/inside_run.h"

namespace tim::runtime {

using Waits = PooledRun::Waits;
using Slot = ContextSlot;

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
    RunCalls calls, Patience patience, Reservation reserved) {
  if (states != nullptr) TIM_RETURN_IF_ERROR(CheckOutsideRunOf(*states));
  std::erase_if(waits, HasSucceeded);
  Slot* slot = reserved.release();
  if (slot == nullptr) {
    TIM_ASSIGN_OR_RETURN(slot, Acquire(patience));
  }
  if (slot == nullptr) return std::shared_ptr<RunEvent>();
  const Result<bool> taken = GiveArenas(slot, &ports, patience);
  Status status = taken.status();
  if (status.ok() && *taken) {
    status = slot->context->Check(ports.inputs, ports.outputs, states.get(),
                                  ports.arenas);
  }
  if (!status.ok() || !*taken) {
    Free(slot, status);
    if (status.ok()) return std::shared_ptr<RunEvent>();
    return status;
  }
  using Mode = PooledRun::Mode;
  const bool waits_for = states != nullptr || !waits.empty();
  const Mode mode = waits_for || blocks_ ? Mode::kOnThread : Mode::kOnDevices;
  const auto run =
      std::make_shared<PooledRun>(shared_from_this(), slot, std::move(ports),
                                  states, std::move(calls), mode);
  status = mode == Mode::kOnDevices
               ? Start(run, slot)
               : Post(run, states.get(), std::move(waits), slot);
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
  const Result<bool> taken = GiveArenas(slot, &ports, Patience::kNone);
  Status status = taken.status();
  if (status.ok() && !*taken) {
    Free(slot, status);
    return std::shared_ptr<RunEvent>();
  }
  if (status.ok()) {
    status = slot->context->Check(ports.inputs, ports.outputs, nullptr,
                                  ports.arenas);
  }
  if (status.ok()) {
    const auto run = std::make_shared<PooledRun>(
        shared_from_this(), slot, std::move(ports), nullptr, std::move(calls),
        PooledRun::Mode::kOnDevices);
    status = Start(run, slot, std::move(before));
    if (status.ok()) return std::shared_ptr<RunEvent>(run);
  }
  Free(slot, status);
  if (status.code() != StatusCode::kUnimplemented) return status;
  return std::shared_ptr<RunEvent>();
}

// Others may end the run as soon as they know it: not before it has started.
Status ContextPool::State::Start(const std::shared_ptr<PooledRun>& run,
                                 Slot* slot, Runs after) {
  TIM_RETURN_IF_ERROR(
      GuardedCall([&] { return run->Start(std::move(after)); }));
  const std::lock_guard lock(mutex_);
  if (slot->arenas != nullptr) {
    slot->arenas->SetRun(run, SharedArenas::Ends::kWhenAwaited);
  }
  AddInFlight(run);
  return OkStatus();
}

Status ContextPool::State::Post(const std::shared_ptr<PooledRun>& run,
                                StateSet* states, Waits waits, Slot* slot) {
  {
    const std::lock_guard lock(mutex_);
    AddInFlight(run);
  }
  const auto previous = states != nullptr ? states->Follow(run) : nullptr;
  // What it waits for may call functions of clients.
  const auto ends = waits.empty() && previous == nullptr
                        ? EndsOnThread()
                        : SharedArenas::Ends::kByClients;
  run->Await(std::move(waits), previous);
  if (slot->arenas != nullptr) slot->arenas->SetRun(run, ends);
  const Status posted = slot->worker.Post([run] { run->Execute(); });
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
  const Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(TakeArenas(slot, arenas, Patience::kWaits).status());
    if (slot->arenas == nullptr) {
      return slot->context->Run(inputs, outputs, states, arenas);
    }
    slot->arenas->SetRun({}, EndsOnThread());
    return slot->context->Run(inputs, outputs, states, slot->arenas->arenas());
  });
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
  auto state =
      std::make_shared<State>(std::move(executable), first->shared_arenas(),
                              max_in_flight, first->blocks());
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
    std::vector<std::shared_ptr<RunEvent>> waits, RunCalls calls,
    Reservation reserved) {
  return Own().Enqueue(std::move(ports), std::move(states), std::move(waits),
                       std::move(calls), State::Patience::kNone,
                       std::move(reserved));
}

Result<ContextPool::Reservation> ContextPool::WaitForContext() {
  return Own().WaitForContext();
}

void ContextPool::FreeSlot::operator()(ContextSlot* slot) const {
  state->Free(slot, OkStatus());
}

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
