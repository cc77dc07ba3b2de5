// Contexts that a pool has: who gets one, who waits for one, and when there is
// one more or less.
#include <algorithm>
#include <utility>
#include <variant>

#include "runtime/context_pool_state.h"
#include "runtime/inside_run.h"

namespace tim::runtime {

using Slot = ContextSlot;

bool ContextPool::State::CallsClients(const ir::Plan& plan) {
  return std::any_of(
      plan.steps.begin(), plan.steps.end(), [](const ir::Step& step) {
        if (const auto* control = std::get_if<ir::ControlCall>(&step.action)) {
          return std::any_of(
              control->plans.begin(), control->plans.end(),
              [](const auto& inner) { return CallsClients(*inner); });
        }
        const auto* call = std::get_if<ir::HostCall>(&step.action);
        return call != nullptr && !call->op.starts_with("tim.");
      });
}

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
  ++frees_;
  if (busy_ - inside_ < limit_) beyond_ = 0;
}

Slot* ContextPool::State::Take(Origin origin) {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->busy) continue;
    SetBusy(slot.get(), origin);
    return slot.get();
  }
  return nullptr;
}

// Contexts that there are must do where there is no memory for one more.  The
// first is made here in a forked process.
Status ContextPool::State::MakeOneMore(std::unique_lock<std::mutex>& lock,
                                       Origin origin, Slot** made) {
  slots_.push_back(std::make_unique<Slot>());
  Slot* const slot = slots_.back().get();
  SetBusy(slot, origin);
  const bool is_first = slots_.size() == 1;
  lock.unlock();
  auto context = is_first
                     ? ExecutionContext::Create(executable_, nullptr, shared_)
                     : ExecutionContext::CreateAnother(executable_, shared_);
  lock.lock();
  if (context.ok()) {
    slot->context = *std::move(context);
    *made = slot;
    return OkStatus();
  }
  SetFree(slot);
  --frees_;  // no run has ended
  if (beyond_ > 0) --beyond_;
  std::erase_if(slots_, [&](const auto& known) { return known.get() == slot; });
  if (origin == Origin::kInside || busy_ == inside_) return context.status();
  limit_ = std::min(limit_, busy_ - inside_);
  return OkStatus();
}

Result<bool> ContextPool::State::TakeArenas(Slot* slot, GivenArenas given,
                                            Patience patience) const {
  if (shared_ == nullptr || slot->arenas != nullptr || !given.empty()) {
    return true;
  }
  const ir::Plan& plan = executable_->plan();
  TIM_ASSIGN_OR_RETURN(slot->arenas, patience == Patience::kWaits
                                         ? shared_->Take(plan)
                                         : shared_->TryTake(plan));
  return slot->arenas != nullptr;
}

Result<bool> ContextPool::State::GiveArenas(Slot* slot, RunPorts* ports,
                                            Patience patience) const {
  TIM_ASSIGN_OR_RETURN(const bool taken,
                       TakeArenas(slot, ports->arenas, patience));
  if (taken && slot->arenas != nullptr) {
    const GivenArenas arenas = slot->arenas->arenas();
    ports->arenas = {arenas.begin(), arenas.end()};
  }
  return taken;
}

Result<ContextPool::Reservation> ContextPool::State::WaitForContext() {
  TIM_ASSIGN_OR_RETURN(Slot * slot, Acquire());
  Reservation reserved(slot, {shared_from_this()});
  TIM_RETURN_IF_ERROR(TakeArenas(slot, {}, Patience::kWaits).status());
  return reserved;
}

// Functions of clients that runs call may have threads which wait for the run
// that has no room: where none of them ends for long, it gets some.
void ContextPool::State::WaitForRoom(std::unique_lock<std::mutex>& lock) {
  if (calls_clients_ && beyond_ < kMaxInside) {
    const uint64_t frees = frees_;
    if (!freed_.wait_for(lock, kStandstill, [&] { return frees_ != frees; })) {
      ++beyond_;
    }
    return;
  }
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

// Contexts stay that were in use at a time since the pool was idle last.
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
  slot->arenas.reset();  // before others look for some
  Slots idle;
  {
    const std::lock_guard lock(mutex_);
    if (how_it_went.code() == StatusCode::kDeviceLost) lost_ = how_it_went;
    SetFree(slot);
    idle = Trim();
    freed_.notify_all();
  }
}

}  // namespace tim::runtime
