// How the API reports failures: nothing throws, every failure is recorded.
#ifndef TIM_VX_FAILURE_H_
#define TIM_VX_FAILURE_H_

#include <exception>
#include <new>
#include <string>

#include "base/status.h"

namespace tim::vx {

/// What clients read: the message, after the kind of failure where that is not
/// a mistake of theirs.
std::string ErrorText(const Status& status);

/// Makes `status`, a failure, this thread's LastError() and logs it.
/// Returns false, so that callers can return it.
bool Fail(const Status& status);

/// `call()`, a Status; an exception, ours or of a user's class, becomes one.
template <typename Call>
Status Guarded(Call&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return OutOfMemory("the host has none left");
  } catch (const std::exception& thrown) {
    return InvalidArgument("an exception was thrown: ", thrown.what());
  } catch (...) {
    return InvalidArgument("an exception of unknown type was thrown");
  }
}

}  // namespace tim::vx

#endif  // TIM_VX_FAILURE_H_
