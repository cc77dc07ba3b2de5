// What a thread has failed with last, and what clients read of a failure.
#include "vx/core/failure.h"

#include "base/log.h"
#include "tim/vx/error.h"

namespace tim::vx {
namespace {

std::string& ThreadError() {
  thread_local std::string error;
  return error;
}

}  // namespace

std::string LastError() { return ThreadError(); }

std::string ErrorText(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOutOfMemory:
    case StatusCode::kDeviceLost:
    case StatusCode::kBuildFailure:
    case StatusCode::kInternal:
      return status.ToString();
    default:
      return status.message();
  }
}

bool IsFinal(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
    case StatusCode::kOutOfMemory:
    case StatusCode::kDeviceLost:
    case StatusCode::kInternal:
      return false;
    default:
      return true;
  }
}

Status AsFinal(const Status& status) {
  if (status.ok() || IsFinal(status.code())) return status;
  return FailedPrecondition(status.ToString());
}

bool Fail(const Status& status) {
  Adopt(status);
  TIM_LOG(kError, ThreadError());
  return false;
}

bool Adopt(const Status& failure) {
  ThreadError() = ErrorText(failure);
  return false;
}

}  // namespace tim::vx
