#include "ir/constant.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/page_memory.h"

namespace tim::ir {
namespace {

constexpr int64_t kSmallAlignment = 128;

std::shared_ptr<std::byte[]> AllocateConstant(int64_t size) {
  if (size < kPageBytes) return AllocateAligned(size, kSmallAlignment);
  return AllocatePages(size);
}

}  // namespace

std::shared_ptr<const ConstantData> MakeConstant(const void* data,
                                                 size_t size) {
  auto memory = AllocateConstant(static_cast<int64_t>(size));
  if (memory == nullptr) throw std::bad_alloc();
  if (size > 0) std::memcpy(memory.get(), data, size);
  const Hash128 hash = HashBytes(memory.get(), size);
  return std::make_shared<const ConstantData>(
      ConstantData{{std::move(memory), size}, hash});
}

std::shared_ptr<const ConstantData> MakeConstant(
    std::span<const std::byte> bytes) {
  return MakeConstant(bytes.data(), bytes.size());
}

std::shared_ptr<const ConstantData> ShareConstant(
    std::span<const std::byte> bytes,
    const std::shared_ptr<const void>& keeper) {
  if (!IsAligned(bytes.data(), kSharedAlignment)) return MakeConstant(bytes);
  std::shared_ptr<const std::byte[]> memory(keeper, bytes.data());
  return std::make_shared<const ConstantData>(
      ConstantData{{std::move(memory), bytes.size()},
                   HashBytes(bytes.data(), bytes.size())});
}

}  // namespace tim::ir
