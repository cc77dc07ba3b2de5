#include "base/aligned_memory.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"

namespace tim {

AlignedMemory AllocateAligned(int64_t bytes, int64_t alignment) {
  if (bytes > std::numeric_limits<int64_t>::max() - alignment) return nullptr;
  const int64_t size = AlignUp(std::max<int64_t>(bytes, 1), alignment);
  void* memory = std::aligned_alloc(static_cast<size_t>(alignment),
                                    static_cast<size_t>(size));
  if (memory == nullptr) return nullptr;
  return AlignedMemory(static_cast<std::byte*>(memory),
                       AlignedFree{.counted = CountedBytes(bytes)});
}

}  // namespace tim
