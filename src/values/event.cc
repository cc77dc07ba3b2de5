// Events, and the thread that makes the calls which wait for them.
#include <utility>

#include "base/fork/per_process.h"
#include "base/worker.h"
#include "values/access.h"
#include "values/event_state.h"
#include "values/failure.h"

namespace tim::values {
namespace {

constinit GlobalPerProcess<Worker> g_worker;

}  // namespace

bool Event::Wait() const {
  if (state_ == nullptr) return true;
  const Status status = state_->Wait();
  if (!status.ok()) internal::Fail(status);
  return status.ok();
}

bool Event::Ready() const { return state_ == nullptr || state_->Ready(); }

std::string Event::error() const {
  return state_ == nullptr ? "" : state_->Wait().message();
}

void Event::Then(std::function<void(bool ok)> call) const {
  if (!call) return;
  internal::CallLater(
      [event = *this, call = std::move(call)] { call(event.Wait()); });
}

namespace internal {

Status EventState::Wait() const {
  Status status = status_;
  for (const runtime::Completion& work : work_) {
    const Status ended = work.Wait();
    if (status.ok()) status = ended;
  }
  return status;
}

bool EventState::Ready() const {
  for (const runtime::Completion& work : work_) {
    if (!work.Ready()) return false;
  }
  return true;
}

Event MakeEvent(Status status, std::vector<runtime::Completion> work) {
  return Access::Make<Event>(
      std::make_shared<EventState>(std::move(status), std::move(work)));
}

void CallLater(std::function<void()> call) {
  if (!g_worker.Get().Post(call).ok()) call();
}

}  // namespace internal
}  // namespace tim::values
