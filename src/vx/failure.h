// How the API reports failures: nothing throws, every failure is recorded.
#ifndef TIM_VX_FAILURE_H_
#define TIM_VX_FAILURE_H_

#include <string>
#include <utility>

#include "base/status.h"

namespace tim::vx {

/// What clients read: the message, after the kind of failure where that is not
/// a mistake of theirs.
std::string ErrorText(const Status& status);

/// Makes `status`, a failure, this thread's LastError() and logs it.
/// Returns false, so that callers can return it.
bool Fail(const Status& status);

/// Whether it would come again: what the graph holds is wrong.  Memory may come
/// back, and a device.
bool IsFinal(StatusCode code);
/// `status`, made final: what it left undone is not done later.
Status AsFinal(const Status& status);

/// The exception that is being handled: want of memory, else our own mistake
/// or that of a user's function.
Status OurException();
Status UsersException();

/// `call()`, a Status, of this library; an exception becomes one.
template <typename Call>
Status Guarded(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return OurException();
  }
}

/// `call()` of a user's class; what it returns is dropped.
template <typename Call>
Status CallUser(Call&& call) {
  try {
    std::forward<Call>(call)();
    return OkStatus();
  } catch (...) {
    return UsersException();
  }
}

}  // namespace tim::vx

#endif  // TIM_VX_FAILURE_H_
