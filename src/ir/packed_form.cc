// Packs constants in ways that can be gone back, and goes back.
#include "ir/packed_form.h"

#include <cstdint>
#include <utility>

#include "base/page_memory.h"

namespace tim::ir {
namespace {

PackedForms*& Innermost() {
  thread_local constinit PackedForms* innermost = nullptr;
  return innermost;
}

}  // namespace

Status ReversiblePacking::operator()(std::span<std::byte> packed) const {
  pack(constant->bytes.data(), packed.data());
  return OkStatus();
}

Result<std::shared_ptr<const ConstantData>> Unpack(const PackedForm& form) {
  auto memory = AllocatePages(static_cast<int64_t>(form.bytes));
  if (memory == nullptr) {
    return OutOfMemory("no host memory for a constant of ", form.bytes,
                       " bytes");
  }
  form.unpack(form.packed.get(), memory.get());
  const Hash128 hash = HashBytes(memory.get(), form.bytes);
  if (hash != form.hash) {
    return TIM_INTERNAL("a packed constant of ", form.bytes,
                        " bytes is not what it was made of");
  }
  return std::make_shared<const ConstantData>(
      ConstantData{{std::move(memory), form.bytes}, hash});
}

PackedForms::PackedForms() : outer_(Innermost()) { Innermost() = this; }

PackedForms::~PackedForms() { Innermost() = outer_; }

void PackedForms::Keep(const ReversiblePacking& packing,
                       std::shared_ptr<const std::byte[]> packed) {
  PackedForms* const innermost = Innermost();
  const size_t bytes = packing.constant->bytes.size();
  if (innermost == nullptr || packing.unpacked != static_cast<int64_t>(bytes)) {
    return;
  }
  innermost->forms_.push_back({.hash = packing.constant->hash,
                               .bytes = bytes,
                               .packed = std::move(packed),
                               .unpack = packing.unpack});
}

}  // namespace tim::ir
