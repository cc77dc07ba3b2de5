// Memory that goes back to the system as soon as it is freed.
#ifndef TIM_BASE_PAGE_MEMORY_H_
#define TIM_BASE_PAGE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tim {

inline constexpr int64_t kPageBytes = 4096;

/// The least size for which a call of the system is nothing against a copy.
inline constexpr int64_t kLeastPages = 64 << 10;

/// At least `bytes` bytes at the start of a page; null where there is not
/// enough memory.  Counted as long as they live.  From kLeastPages on they are
/// pages of their own, which are zeros and take memory once they are touched:
/// the heap keeps no hole when they are freed.  Fewer have no content.
std::shared_ptr<std::byte[]> AllocatePages(int64_t bytes);

}  // namespace tim

#endif  // TIM_BASE_PAGE_MEMORY_H_
