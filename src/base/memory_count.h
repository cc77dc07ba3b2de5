// How much memory the library's allocators hold.
#ifndef TIM_BASE_MEMORY_COUNT_H_
#define TIM_BASE_MEMORY_COUNT_H_

#include <cstdint>
#include <utility>

namespace tim {

/// Bytes that this process holds: buffers that devices allocated, constants and
/// memory of tensors.  Memory that a device imports belongs to somebody else.
int64_t CountedMemory();

/// Bytes that count as held while it lives.
class CountedBytes {
 public:
  CountedBytes() = default;
  explicit CountedBytes(int64_t bytes);
  CountedBytes(CountedBytes&& other) noexcept
      : bytes_(std::exchange(other.bytes_, 0)) {}
  CountedBytes& operator=(CountedBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CountedBytes();

 private:
  int64_t bytes_ = 0;
};

}  // namespace tim

#endif  // TIM_BASE_MEMORY_COUNT_H_
