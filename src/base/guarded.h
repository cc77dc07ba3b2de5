// Where exceptions end: ours to throw are none, the library's are failures.
#ifndef TIM_BASE_GUARDED_H_
#define TIM_BASE_GUARDED_H_

#include "base/status.h"

namespace tim {

/// The failure that the exception in flight stands for: kOutOfMemory for
/// std::bad_alloc, kInternal with its message for others.  To be called where
/// one is caught.
Status StatusOfException() noexcept;

/// `call()`, a Status or a Result; what it throws becomes a failure.
template <typename Call>
auto GuardedCall(const Call& call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace tim

#endif  // TIM_BASE_GUARDED_H_
