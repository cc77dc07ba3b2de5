// Runs that were started by RunAsync(), as clients see them.
#include "vx/graph/run_event.h"

#include "base/guarded.h"
#include "vx/core/failure.h"

namespace tim::vx {
namespace {

Status NoRun() {
  return FailedPrecondition(
      "a RunEvent without a run: RunAsync() has failed, or it was made by "
      "itself");
}

void Tell(const RunEvent::Callback& callback, const Status& status) {
  const std::string reason = ErrorText(status);
  const Status thrown =
      CallUser([&] { callback(status.ok() ? nullptr : reason.c_str()); });
  if (!thrown.ok()) Fail(thrown.WithContext("a callback of Then()"));
}

}  // namespace

RunEvent::RunEvent() = default;
RunEvent::RunEvent(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunEvent::RunEvent(const RunEvent& other) = default;
RunEvent& RunEvent::operator=(const RunEvent& other) = default;
RunEvent::~RunEvent() = default;

bool RunEvent::Wait() const {
  if (impl_ == nullptr) return Fail(NoRun());
  const Status status = impl_->run->Wait();
  return status.ok() || Adopt(status);
}

bool RunEvent::Ready() const { return impl_ == nullptr || impl_->run->Ready(); }

void RunEvent::Then(Callback callback) const {
  if (callback == nullptr) return;
  if (impl_ == nullptr) return Tell(callback, NoRun());
  impl_->run->Then([callback = std::move(callback)](const Status& status) {
    Tell(callback, status);
  });
}

std::string RunEvent::ErrorMessage() const {
  if (impl_ == nullptr) return ErrorText(NoRun());
  if (!impl_->run->Ready()) return "";
  const Status status = impl_->run->Wait();
  return status.ok() ? "" : ErrorText(status);
}

}  // namespace tim::vx
