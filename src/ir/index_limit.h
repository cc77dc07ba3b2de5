// Where indices of 32 bits end, for kernels and for whoever lays out memory.
#ifndef TIM_IR_INDEX_LIMIT_H_
#define TIM_IR_INDEX_LIMIT_H_

#include <cstdint>
#include <limits>

namespace tim::ir {

/// Most elements of an operand that kernels take: they count in `int`, up to a
/// vector beyond the last.
inline constexpr int64_t kMostKernelElements =
    std::numeric_limits<int32_t>::max() - 64;

/// Whether kernels reach `count` elements that begin `first` elements behind
/// the start of a buffer: they add both in 32 bits.  At the start of a buffer
/// the count alone matters, of which kernels judge by themselves.  Where the
/// size of an element is not known, bytes are elements: none is smaller.
constexpr bool IndicesFit(int64_t first, int64_t count) {
  return first == 0 ||
         (count <= kMostKernelElements && first <= kMostKernelElements - count);
}

}  // namespace tim::ir

#endif  // TIM_IR_INDEX_LIMIT_H_
