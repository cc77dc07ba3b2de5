#include "vx/core/host_memory.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/aligned_memory.h"
#include "base/page_memory.h"

namespace tim::vx {
HostMemory::~HostMemory() {
  for (const auto& entry : blocks_) Free(entry);
}

void HostMemory::Free(const Blocks::value_type& entry) {
  const Block& block = entry.second;
  if (block.mapping != nullptr || block.pages != nullptr) return;
  std::free(const_cast<void*>(entry.first));
}

void* HostMemory::Allocate(int64_t bytes) {
  if (bytes >= kLeastPages) {
    std::shared_ptr<std::byte[]> pages = AllocatePages(bytes);
    if (pages == nullptr) return nullptr;
    void* address = pages.get();
    blocks_[address] = {.users = 1, .pages = std::move(pages)};
    return address;
  }
  AlignedMemory memory = AllocateAligned(bytes, kHostAlignment);
  if (memory == nullptr) return nullptr;
  std::memset(memory.get(), 0, static_cast<size_t>(bytes));
  void* address = memory.release();
  blocks_[address] = {.users = 1,
                      .counted = std::move(memory.get_deleter().counted)};
  return address;
}

void* HostMemory::Adopt(std::unique_ptr<DmaMapping> mapping) {
  void* address = mapping->address();
  blocks_[address] = {.users = 1, .mapping = std::move(mapping)};
  ++mappings_;
  return address;
}

DmaMapping* HostMemory::MappingAt(const void* block) const {
  if (mappings_ == 0) return nullptr;
  const auto entry = blocks_.find(block);
  return entry != blocks_.end() ? entry->second.mapping.get() : nullptr;
}

void HostMemory::AddUser(void* address) {
  const auto entry = blocks_.find(address);
  if (entry != blocks_.end()) ++entry->second.users;
}

void HostMemory::RemoveUser(void* address) {
  const auto entry = blocks_.find(address);
  if (entry == blocks_.end() || --entry->second.users > 0) return;
  Free(*entry);
  if (entry->second.mapping != nullptr) --mappings_;
  blocks_.erase(entry);
}

}  // namespace tim::vx
