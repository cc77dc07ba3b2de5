// Objects of the process that are made at their first use.
#ifndef TIM_BASE_FORK_KEEP_ONE_H_
#define TIM_BASE_FORK_KEEP_ONE_H_

#include <atomic>
#include <memory>

namespace tim {

/// The T that `make()` gave first, kept at `place`, which begins as null, until
/// the process ends.  Threads that ask at the same time may each make one, of
/// which one is kept.  A function-local static would do it once, under a lock
/// that a process forked off meanwhile finds taken for ever.
template <typename T, typename Make>
const T& KeepOne(std::atomic<const T*>& place, const Make& make) {
  const T* kept = place.load(std::memory_order_acquire);
  if (kept != nullptr) return *kept;
  std::unique_ptr<const T> made(new T(make()));
  if (place.compare_exchange_strong(kept, made.get(),
                                    std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *kept;
}

}  // namespace tim

#endif  // TIM_BASE_FORK_KEEP_ONE_H_
