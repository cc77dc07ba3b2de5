// How the API reports failures: nothing throws, every failure is recorded.
#ifndef TIM_VX_CORE_FAILURE_H_
#define TIM_VX_CORE_FAILURE_H_

#include <string>

#include "base/guarded.h"
#include "base/status.h"

namespace tim::vx {

/// What clients read: the message, after the kind of failure where that is not
/// a mistake of theirs.
std::string ErrorText(const Status& status);

/// Makes `status`, a failure, this thread's LastError() and logs it.
/// Returns false, so that callers can return it.
bool Fail(const Status& status);
/// The same of a failure that another thread has met, and logged.
bool Adopt(const Status& failure);

/// Whether it would come again: what the graph holds is wrong.  Memory may come
/// back, and a device.
bool IsFinal(StatusCode code);
/// `status`, made final: what it left undone is not done later.
Status AsFinal(const Status& status);

/// `call()` of a user's class; what it throws is the user's mistake.
template <typename Call>
Status CallUser(const Call& call) {
  const Status status = GuardedCall([&] {
    call();
    return OkStatus();
  });
  if (status.code() != StatusCode::kInternal) return status;
  return InvalidArgument(status.message());
}

}  // namespace tim::vx

#endif  // TIM_VX_CORE_FAILURE_H_
