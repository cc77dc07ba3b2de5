#include "base/status.h"

#include <cstdio>
#include <cstdlib>

namespace tim {

const char* ToString(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kUnimplemented:
      return "not supported";
    case StatusCode::kFailedPrecondition:
      return "failed precondition";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kOutOfMemory:
      return "out of memory";
    case StatusCode::kDeviceLost:
      return "device lost";
    case StatusCode::kBuildFailure:
      return "kernel build failure";
    case StatusCode::kInternal:
      return "internal error";
  }
  return "unknown";
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return StrCat(tim::ToString(code_), ": ", message_);
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, StrCat(context, ": ", message_));
}

namespace internal {

Status MakeInternal(const char* file, int line, std::string message) {
  std::string text = StrCat(file, ":", line, ": ", message);
#ifndef NDEBUG
  std::fputs(StrCat("tim-cl: internal error: ", text, "\n").c_str(), stderr);
  std::abort();
#endif
  return Status(StatusCode::kInternal, std::move(text));
}

}  // namespace internal
}  // namespace tim
