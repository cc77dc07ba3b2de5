// Tells runs that a thread is in the middle of, so that none waits for itself.
#include "runtime/inside_run.h"

#include <set>
#include <utility>
#include <vector>

namespace tim::runtime {
namespace {

thread_local constinit const InsideRun* t_innermost = nullptr;

template <typename Predicate>
bool IsAny(const Predicate& predicate) {
  for (auto at = t_innermost; at != nullptr; at = at->outer()) {
    if (predicate(at->work())) return true;
  }
  return false;
}

bool IsStepOf(const RunEvent& run) {
  return IsAny([&](const RunAtWork& work) { return work.event == &run; });
}

}  // namespace

InsideRun::InsideRun(const RunAtWork& work) : work_(work), outer_(t_innermost) {
  t_innermost = this;
}

InsideRun::~InsideRun() { t_innermost = outer_; }

bool IsInsideAnyRun() { return t_innermost != nullptr; }

bool IsInside(RunEvent& run) {
  if (t_innermost == nullptr) return false;
  if (IsStepOf(run)) return true;
  std::vector<std::shared_ptr<RunEvent>> open = run.Awaited();
  std::set<const RunEvent*> seen;
  while (!open.empty()) {
    const std::shared_ptr<RunEvent> next = std::move(open.back());
    open.pop_back();
    if (!seen.insert(next.get()).second) continue;
    if (IsStepOf(*next)) return true;
    for (auto& awaited : next->Awaited()) open.push_back(std::move(awaited));
  }
  return false;
}

bool IsInsideRunOf(const Executable& executable) {
  return IsAny(
      [&](const RunAtWork& work) { return work.executable == &executable; });
}

bool IsInsideRunOf(const StateSet& states) {
  return IsAny([&](const RunAtWork& work) { return work.states == &states; });
}

void WaitInside::Set(const std::shared_ptr<RunEvent>& run) {
  for (auto at = t_innermost; at != nullptr; at = at->outer()) {
    if (at->work().awaited != nullptr) at->work().awaited->Set(run);
  }
}

}  // namespace tim::runtime
