// Memory that goes back to the system as soon as it is freed.
#ifndef TIM_BASE_PAGE_MEMORY_H_
#define TIM_BASE_PAGE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tim {

inline constexpr int64_t kPageBytes = 4096;

/// At least `bytes` bytes at the start of a page, without content; null where
/// there is not enough memory.  Counted as long as they live.  Those that are
/// large are pages of their own: the heap keeps no hole when they are freed.
std::shared_ptr<std::byte[]> AllocatePages(int64_t bytes);

}  // namespace tim

#endif  // TIM_BASE_PAGE_MEMORY_H_
