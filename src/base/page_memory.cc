// Pages of the system for what is large, of the heap for what is not.
#include "base/page_memory.h"

#include <sys/mman.h>

#include "base/aligned_memory.h"
#include "base/memory_count.h"

namespace tim {
namespace {

struct Unmap {
  void operator()(std::byte* memory) const { munmap(memory, size); }

  size_t size = 0;
  CountedBytes counted;
};

}  // namespace

std::shared_ptr<std::byte[]> AllocatePages(int64_t bytes) {
  if (bytes < kLeastPages) return AllocateAligned(bytes, kPageBytes);
  const auto size = static_cast<size_t>(bytes);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return std::unique_ptr<std::byte[], Unmap>(static_cast<std::byte*>(memory),
                                             Unmap{size, CountedBytes(bytes)});
}

}  // namespace tim
