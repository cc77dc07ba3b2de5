// Bytes of a constant, shared and never changed.
#ifndef TIM_IR_CONSTANT_H_
#define TIM_IR_CONSTANT_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/memory_count.h"

namespace tim::ir {

struct ConstantData {
  std::vector<std::byte> bytes;
  Hash128 hash;  ///< Of `bytes`.
  CountedBytes counted;
};

inline std::shared_ptr<const ConstantData> MakeConstant(
    std::vector<std::byte> bytes) {
  const Hash128 hash = HashBytes(bytes.data(), bytes.size());
  CountedBytes counted(static_cast<int64_t>(bytes.size()));
  return std::make_shared<const ConstantData>(
      ConstantData{std::move(bytes), hash, std::move(counted)});
}

inline std::shared_ptr<const ConstantData> MakeConstant(const void* data,
                                                        size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  return MakeConstant(std::vector<std::byte>(first, first + size));
}

}  // namespace tim::ir

#endif  // TIM_IR_CONSTANT_H_
