// Waits for events of devices by the functions that they offer.
#include "plugin/native_event.h"

#include <thread>
#include <utility>

#include "base/log.h"

namespace tim::plugin {
namespace {

using Clock = std::chrono::steady_clock;

// Time between two questions whether an event is reached, of a device that
// does not tell by itself.
constexpr std::chrono::microseconds kPoll{50};

}  // namespace

NativeEvent::~NativeEvent() {
  device_.Tell("TimDeviceFns::destroy_event", device_.functions().destroy_event,
               handle_);
}

void NativeEvent::Reset() {
  const std::lock_guard lock(mutex_);
  status_.reset();
  done_.reset();
  call_refused_ = false;
}

Status NativeEvent::Wait() {
  const std::lock_guard lock(mutex_);
  if (!status_) status_ = DoWait();
  return *status_;
}

bool NativeEvent::Ready() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (status_) return true;
  const Result<bool> done = Query();
  return !done.ok() || *done;
}

// False where the device cannot be asked.
Result<bool> NativeEvent::Query() {
  const TimDeviceFns& fns = device_.functions();
  if (fns.query != nullptr) {
    int32_t done = 0;
    TIM_RETURN_IF_ERROR(
        device_.Call("TimDeviceFns::query", fns.query, handle_, &done));
    return done != 0;
  }
  TIM_ASSIGN_OR_RETURN(const bool calls, AskForCall());
  return calls && done_->HasCome();
}

// Has the device call once the event is reached.  False where it does not.
Result<bool> NativeEvent::AskForCall() {
  if (done_ != nullptr) return true;
  if (device_.functions().on_done == nullptr || call_refused_) return false;
  auto done = std::make_unique<DoneCall>(device_.shared_plugin());
  const Status asked =
      device_.Call("TimDeviceFns::on_done", device_.functions().on_done,
                   handle_, &DoneCall::Done, done->state());
  if (!asked.ok()) {
    done->Cancel();
    if (asked.code() == StatusCode::kDeviceLost) return asked;
    TIM_LOG(kInfo, "an event is waited for in another way: ", asked.message());
    call_refused_ = true;
    return false;
  }
  done_ = std::move(done);
  return true;
}

// A device that takes one call at a time must not be held by a wait, and a
// wait with a time limit must come back.
Status NativeEvent::DoWait() {
  const std::chrono::seconds limit = device_.plugin().timeout;
  if (!device_.thread_safe() || limit.count() > 0) {
    TIM_RETURN_IF_ERROR(WaitOutside(limit));
  }
  return device_.Call("TimDeviceFns::wait", device_.functions().wait, handle_);
}

// Waits, where that is possible, while no function of the device is called.
Status NativeEvent::WaitOutside(std::chrono::seconds limit) {
  TIM_ASSIGN_OR_RETURN(const bool calls, AskForCall());
  if (calls) return done_->Wait(limit) ? OkStatus() : device_.GetStuck();
  if (device_.functions().query == nullptr) return OkStatus();
  const auto begin = Clock::now();
  while (true) {
    TIM_ASSIGN_OR_RETURN(const bool done, Query());
    if (done) return OkStatus();
    if (limit.count() > 0 && Clock::now() - begin > limit) {
      return device_.GetStuck();
    }
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace tim::plugin
