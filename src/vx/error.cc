#include "tim/vx/error.h"

#include "base/log.h"
#include "vx/failure.h"

namespace tim::vx {
namespace {

std::string& ThreadError() {
  thread_local std::string error;
  return error;
}

}  // namespace

std::string LastError() { return ThreadError(); }

bool Fail(const Status& status) {
  ThreadError() = status.message();
  TIM_LOG(kError, status.message());
  return false;
}

}  // namespace tim::vx
