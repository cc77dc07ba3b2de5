// Follows which plans a thread makes, so that nobody waits for a plan whose
// making waits for him.
#include "values/plan_making.h"

#include <utility>

#include "base/guarded.h"

namespace tim::values::internal {
namespace {

thread_local constinit PlanMaking* t_innermost = nullptr;

}  // namespace

void PlanMaking::Make(const std::function<Plan()>& make) {
  outer_ = std::exchange(t_innermost, this);
  Plan plan = GuardedCall(make);
  t_innermost = outer_;
  const std::lock_guard lock(mutex_);
  plan_.emplace(std::move(plan));
  changed_.notify_all();
}

bool PlanMaking::ready() const {
  const std::lock_guard lock(mutex_);
  return plan_.has_value();
}

const PlanMaking::Plan& PlanMaking::plan() const { return *plan_; }

bool PlanMaking::IsMadeHere() const {
  for (auto* at = t_innermost; at != nullptr; at = at->outer_) {
    if (at == this || at->first_.get() == this) return true;
  }
  return false;
}

bool PlanMaking::Wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return plan_.has_value() || calls_ > 0; });
  return plan_.has_value();
}

void FunctionCall::Count(int more) {
  for (auto* at = t_innermost; at != nullptr; at = at->outer_) {
    const std::lock_guard lock(at->mutex_);
    at->calls_ += more;
    at->changed_.notify_all();
  }
}

}  // namespace tim::values::internal
