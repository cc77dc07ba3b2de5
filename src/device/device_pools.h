// The memory pools of a device.
#ifndef TIM_DEVICE_DEVICE_POOLS_H_
#define TIM_DEVICE_DEVICE_POOLS_H_

#include <array>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "device/pool_allocator.h"
#include "ir/tensor_desc.h"

namespace tim::device {

/// One per kind of memory.  Any thread.
class DevicePools {
 public:
  /// \param device outlives them: the last member of a device is destroyed
  ///     first.
  /// \param most_bytes of each; 0: no limit.
  explicit DevicePools(Device& device, int64_t most_bytes = 0);

  PoolAllocator& Of(ir::MemoryKind kind) {
    return pools_[static_cast<size_t>(kind)];
  }
  /// PoolAllocator::Trim() of each.
  int64_t Trim(int64_t keep_bytes);

  /// Memory of the device that is in no pool: what lives as long as a graph.
  /// Where there is not enough, the pools give back what they do not use.
  Result<std::unique_ptr<Buffer>> AllocateOutside(int64_t bytes,
                                                  ir::MemoryKind kind);

 private:
  Device& device_;
  std::array<PoolAllocator, 2> pools_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_DEVICE_POOLS_H_
