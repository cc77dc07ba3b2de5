#include "tim/vx/error.h"

#include <exception>
#include <new>

#include "base/log.h"
#include "vx/failure.h"

namespace tim::vx {
namespace {

std::string& ThreadError() {
  thread_local std::string error;
  return error;
}

// `whose` begins the message.
Status FromException(StatusCode code, const char* whose) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return OutOfMemory("the host has none left");
  } catch (const std::exception& thrown) {
    return Status(code, StrCat(whose, ": ", thrown.what()));
  } catch (...) {
    return Status(code, StrCat(whose, ", of unknown type"));
  }
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

Status OurException() {
  return FromException(StatusCode::kInternal, "an exception in this library");
}

Status UsersException() {
  return FromException(StatusCode::kInvalidArgument, "an exception was thrown");
}

bool Fail(const Status& status) {
  ThreadError() = ErrorText(status);
  TIM_LOG(kError, ThreadError());
  return false;
}

}  // namespace tim::vx
