// Bytes of a constant, shared and never changed.
#ifndef TIM_IR_CONSTANT_H_
#define TIM_IR_CONSTANT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/aligned_memory.h"
#include "base/hash.h"

namespace tim::ir {

struct ConstantData {
  /// At a page's start, so that devices can read it where it is; what is less
  /// than a page, at a multiple of 128.  A part of a file lies where it does
  /// there, at a multiple of kSharedAlignment.
  AlignedBytes bytes;
  Hash128 hash;  ///< Of `bytes`.
};

inline constexpr int64_t kSharedAlignment = 64;

/// A copy of `size` bytes.  Throws std::bad_alloc as containers do.
std::shared_ptr<const ConstantData> MakeConstant(const void* data, size_t size);
std::shared_ptr<const ConstantData> MakeConstant(
    std::span<const std::byte> bytes);
/// The bytes where they are, which `keeper` keeps; a copy where they are not
/// aligned.
std::shared_ptr<const ConstantData> ShareConstant(
    std::span<const std::byte> bytes,
    const std::shared_ptr<const void>& keeper);

}  // namespace tim::ir

#endif  // TIM_IR_CONSTANT_H_
