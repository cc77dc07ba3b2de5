// Memory of this process.
#ifndef TIM_DEVICE_HOST_HOST_BUFFER_H_
#define TIM_DEVICE_HOST_HOST_BUFFER_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "device/device.h"

namespace tim::device {

inline constexpr int64_t kHostAlignment = 64;

/// Owned, aligned to kHostAlignment.
class HostBuffer final : public Buffer {
 public:
  static Result<std::unique_ptr<Buffer>> Create(int64_t bytes);

  int64_t bytes() const override { return bytes_; }
  void* host_address() const override { return memory_.get(); }
  Result<std::unique_ptr<Buffer>> View(int64_t offset, int64_t bytes) override;

 private:
  HostBuffer(AlignedMemory memory, int64_t bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}

  AlignedMemory memory_;
  int64_t bytes_;
};

/// Memory of somebody else, who may move it while no work refers to it.
class ExternalBuffer final : public Buffer {
 public:
  ExternalBuffer(void* memory, int64_t bytes)
      : memory_(memory), bytes_(bytes) {}

  int64_t bytes() const override { return bytes_; }
  void* host_address() const override { return memory_; }
  Result<std::unique_ptr<Buffer>> View(int64_t offset, int64_t bytes) override;
  void Rebind(void* memory) { memory_ = memory; }

 private:
  void* memory_;
  int64_t bytes_;
};

/// First byte of a range of a buffer with a host address.
inline std::byte* HostPointer(const BufferRange& range) {
  return static_cast<std::byte*>(range.buffer->host_address()) + range.offset;
}

}  // namespace tim::device

#endif  // TIM_DEVICE_HOST_HOST_BUFFER_H_
