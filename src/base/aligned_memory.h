// Host memory at addresses that devices can use.
#ifndef TIM_BASE_ALIGNED_MEMORY_H_
#define TIM_BASE_ALIGNED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

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

inline bool IsAligned(const void* memory, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) %
             static_cast<uintptr_t>(alignment) ==
         0;
}

}  // namespace tim

#endif  // TIM_BASE_ALIGNED_MEMORY_H_
