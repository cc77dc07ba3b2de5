// What the pools of a device do together.
#include "device/device_pools.h"

namespace tim::device {

using ir::MemoryKind;

static_assert(static_cast<int>(MemoryKind::kDevice) == 0 &&
              static_cast<int>(MemoryKind::kHost) == 1);

DevicePools::DevicePools(Device& device, int64_t most_bytes)
    : device_(device),
      pools_{PoolAllocator(device, MemoryKind::kDevice, most_bytes),
             PoolAllocator(device, MemoryKind::kHost, most_bytes)} {}

int64_t DevicePools::Trim(int64_t keep_bytes) {
  int64_t released = 0;
  for (PoolAllocator& pool : pools_) released += pool.Trim(keep_bytes);
  return released;
}

Result<std::unique_ptr<Buffer>> DevicePools::AllocateOutside(int64_t bytes,
                                                             MemoryKind kind) {
  auto buffer = device_.Allocate(bytes, kind);
  if (buffer.status().code() != StatusCode::kOutOfMemory || Trim(0) == 0) {
    return buffer;
  }
  return device_.Allocate(bytes, kind);
}

}  // namespace tim::device
