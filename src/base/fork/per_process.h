// Objects that a forked process has anew.
#ifndef TIM_BASE_FORK_PER_PROCESS_H_
#define TIM_BASE_FORK_PER_PROCESS_H_

#include <atomic>
#include <cstdint>

#include "base/fork/fork.h"

namespace tim {

/// A T that is made at its first use, and once more at the first use in a
/// forked process: threads that only the other process has may have held its
/// locks, waited for it or be part of it.  The other process's T is left as it
/// is.  Any thread; never destroyed, for objects of the whole process.
template <typename T>
class GlobalPerProcess {
 public:
  constexpr GlobalPerProcess() = default;
  GlobalPerProcess(const GlobalPerProcess&) = delete;
  GlobalPerProcess& operator=(const GlobalPerProcess&) = delete;

  T& Get() {
    Made* made = made_.load(std::memory_order_acquire);
    while (made == nullptr || made->forks != Forks()) {
      auto* const fresh = new Made();
      if (made_.compare_exchange_strong(made, fresh,
                                        std::memory_order_acq_rel)) {
        return fresh->value;
      }
      delete fresh;  // another thread was first
    }
    return made->value;
  }

 protected:
  struct Made {
    const uint32_t forks = Forks();
    T value;
  };

  std::atomic<Made*> made_ = nullptr;
};

/// One that is destroyed with its owner, by the process that made it.
template <typename T>
class PerProcess final : public GlobalPerProcess<T> {
 public:
  PerProcess() = default;
  ~PerProcess() {
    const auto* made = this->made_.load(std::memory_order_acquire);
    if (made != nullptr && made->forks == Forks()) delete made;
  }
};

}  // namespace tim

#endif  // TIM_BASE_FORK_PER_PROCESS_H_
