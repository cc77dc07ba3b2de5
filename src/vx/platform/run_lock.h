// Who may change or run the graph of an executable.
#ifndef TIM_VX_PLATFORM_RUN_LOCK_H_
#define TIM_VX_PLATFORM_RUN_LOCK_H_

#include <mutex>

#include "base/fork/per_process.h"

namespace tim::vx::platform {

/// Held for whole runs; free in a process that is forked off meanwhile.
class RunLock {
 public:
  std::unique_lock<std::mutex> Take() {
    return std::unique_lock<std::mutex>(mutex_.Get());
  }

 private:
  PerProcess<std::mutex> mutex_;
};

}  // namespace tim::vx::platform

#endif  // TIM_VX_PLATFORM_RUN_LOCK_H_
