// Purpose of the memory that a thread asks devices for.
#ifndef TIM_DEVICE_MEMORY_USE_H_
#define TIM_DEVICE_MEMORY_USE_H_

#include <cstdint>

namespace tim::device {

enum class MemoryUse : uint8_t {
  kRuns,       ///< Arenas and copies, which come and go.
  kConstants,  ///< Content that stays as long as its graph.
};

/// Use of this thread; kRuns where no scope says otherwise.
MemoryUse CurrentMemoryUse();

/// Tells the devices that the thread calls what their memory is for.
class MemoryUseScope {
 public:
  explicit MemoryUseScope(MemoryUse use);
  ~MemoryUseScope();
  MemoryUseScope(const MemoryUseScope&) = delete;
  MemoryUseScope& operator=(const MemoryUseScope&) = delete;

 private:
  const MemoryUse before_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_MEMORY_USE_H_
