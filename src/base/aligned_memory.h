// Host memory at addresses that devices can use.
#ifndef TIM_BASE_ALIGNED_MEMORY_H_
#define TIM_BASE_ALIGNED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/memory_count.h"

namespace tim {

struct AlignedFree {
  void operator()(std::byte* memory) const { std::free(memory); }
  CountedBytes counted;
};
/// Counted as long as it lives.
using AlignedMemory = std::unique_ptr<std::byte[], AlignedFree>;

/// At least `bytes` bytes with no content, at a multiple of `alignment`, a
/// power of two; null where there is not enough memory.
AlignedMemory AllocateAligned(int64_t bytes, int64_t alignment);

/// Bytes of a fixed number at such an address; copies share them.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  AlignedBytes(AlignedMemory memory, size_t size)
      : memory_(std::move(memory)), size_(size) {}
  /// A part of what somebody else owns.
  AlignedBytes(std::shared_ptr<const std::byte[]> memory, size_t size)
      : memory_(std::move(memory)), size_(size) {}

  const std::byte* data() const { return memory_.get(); }
  size_t size() const { return size_; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }

 private:
  std::shared_ptr<const std::byte[]> memory_;
  size_t size_ = 0;
};

inline bool IsAligned(const void* memory, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) %
             static_cast<uintptr_t>(alignment) ==
         0;
}

}  // namespace tim

#endif  // TIM_BASE_ALIGNED_MEMORY_H_
