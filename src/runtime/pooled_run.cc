// Starts, follows and ends one run of a pool.
#include "runtime/pooled_run.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/trace.h"
#include "device/run_order.h"
#include "runtime/inside_run.h"

namespace tim::runtime {

Status PooledRun::OfAnotherProcess() {
  return FailedPrecondition(
      "the run was in flight when this process was forked off; only the "
      "process that started it sees how it ends");
}

Status PooledRun::Precede(ExecutionContext& next) {
  const std::lock_guard lock(mutex_);
  return ended_ ? OkStatus() : next.Follow(*slot_->context);
}

// Nobody else knows the run before it has started.
Status PooledRun::Start(Runs after) {
  for (const auto& run : after) {
    TIM_RETURN_IF_ERROR(run->Precede(*slot_->context));
  }
  after_ = std::move(after);
  if (calls_.begin != nullptr) calls_.begin();
  return slot_->context->Enqueue(ports_.inputs, ports_.outputs, nullptr,
                                 ports_.arenas);
}

void PooledRun::Await(Waits waits, std::shared_ptr<RunEvent> previous) {
  const std::lock_guard lock(mutex_);
  waits_ = std::move(waits);
  previous_ = std::move(previous);
}

// Nobody else changes what it awaits.
void PooledRun::Execute() {
  if (previous_ != nullptr) static_cast<void>(previous_->Wait());
  Status status;
  for (const auto& wait : waits_) {
    const Status ended = wait->Wait();
    if (status.ok()) status = ended.WithContext("a run that this one awaits");
  }
  Await({}, nullptr);
  if (status.ok()) {
    const Executable& executable = slot_->context->executable();
    const TraceSpan span("run", "Run", executable.plan().graph);
    const InsideRun inside({&executable, states_.get(), this, &inside_});
    status = GuardedCall([&] {
      if (calls_.begin != nullptr) calls_.begin();
      return slot_->context->Run(ports_.inputs, ports_.outputs, states_.get(),
                                 ports_.arenas);
    });
  }
  const std::lock_guard lock(mutex_);
  End(std::move(status));
}

Status PooledRun::Wait() {
  if (forks_ != Forks()) return OfAnotherProcess();
  const WaitInside waiting(shared_from_this());
  if (IsInside(*this)) {
    return FailedPrecondition(
        "inside a holder, or another function that a run calls: the run ends "
        "only after it has returned");
  }
  const TraceSpan span("wait", "wait for a run");
  std::unique_lock lock(mutex_);
  if (on_devices_ && !ended_ && !finishing_) Finish(lock);
  changed_.wait(lock, [this] { return ended_.load(); });
  return status_;
}

// Runs end in the order in which they follow one another.
bool PooledRun::Ready() {
  if (ended_ || forks_ != Forks()) return true;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !on_devices_ || ended_ || finishing_) return ended_;
  const bool followed =
      std::all_of(after_.begin(), after_.end(),
                  [](const auto& run) { return run->Ready(); });
  if (followed && slot_->context->Ready()) Finish(lock);
  return ended_;
}

void PooledRun::Then(Call call) {
  if (forks_ != Forks()) return call(OfAnotherProcess());
  std::shared_ptr<RunOwner> owner;
  {
    const std::lock_guard lock(mutex_);
    owner = owner_;
  }
  const auto tell = [run = shared_from_this(), call = std::move(call)] {
    const Status status = run->Wait();
    const TraceSpan span("callback", "Then");
    call(status);
  };
  // Where there is no thread the caller waits.
  if (owner == nullptr || !owner->Call(tell).ok()) tell();
}

PooledRun::Waits PooledRun::Awaited() {
  Waits waits;
  {
    const std::lock_guard lock(mutex_);
    waits = waits_;
    if (previous_ != nullptr) waits.push_back(previous_);
  }
  if (auto run = inside_.Get()) waits.push_back(std::move(run));
  return waits;
}

// Drivers end what waits for a command that failed, and may not have done it:
// it is done now, since how those before have ended does not matter.
void PooledRun::Finish(std::unique_lock<std::mutex>& lock) {
  // The thread may be about to hand over another run.
  const device::RunOrder::Scope no_run(nullptr);
  finishing_ = true;
  lock.unlock();
  Status status = slot_->context->Wait();
  failed_on_devices_ = !status.ok();
  bool follows_failure = false;
  for (const auto& run : after_) {
    static_cast<void>(run->Wait());
    follows_failure |= run->failed_on_devices_;
  }
  lock.lock();
  if (follows_failure && !status.ok() &&
      status.code() != StatusCode::kDeviceLost) {
    status = slot_->context->Run(ports_.inputs, ports_.outputs, nullptr,
                                 ports_.arenas);
  }
  End(std::move(status));
}

void PooledRun::End(Status status) {
  const RunCalls calls = std::exchange(calls_, {});
  if (calls.end != nullptr) {
    status = GuardedCall([&] { return calls.end(status); });
  }
  // The memory may be freed from now on.
  for (const auto& input : ports_.inputs) slot_->context->Release(input.host);
  for (const auto& output : ports_.outputs) {
    slot_->context->Release(output.host);
  }
  for (const auto& arena : ports_.arenas) slot_->context->Release(arena.host);
  ports_ = {};
  states_.reset();
  after_.clear();
  status_ = std::move(status);
  const std::shared_ptr<RunOwner> owner = std::move(owner_);
  owner->Ended(this, std::exchange(slot_, nullptr), status_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace tim::runtime
