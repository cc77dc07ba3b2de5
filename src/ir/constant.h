// Bytes of a constant, shared and never changed.
#ifndef TIM_IR_CONSTANT_H_
#define TIM_IR_CONSTANT_H_

#include <cstddef>
#include <memory>
#include <span>

#include "base/aligned_memory.h"
#include "base/hash.h"

namespace tim::ir {

struct ConstantData {
  /// At a page's start, so that devices can read it where it is; what is less
  /// than a page, at a multiple of 128.
  AlignedBytes bytes;
  Hash128 hash;  ///< Of `bytes`.
};

/// A copy of `size` bytes.  Throws std::bad_alloc as containers do.
std::shared_ptr<const ConstantData> MakeConstant(const void* data, size_t size);
std::shared_ptr<const ConstantData> MakeConstant(
    std::span<const std::byte> bytes);

}  // namespace tim::ir

#endif  // TIM_IR_CONSTANT_H_
