#include "vx/tensor/host_memory.h"

#include <cstdlib>
#include <utility>

#include "base/aligned_memory.h"

namespace tim::vx {

HostMemory::~HostMemory() {
  for (const auto& [address, block] : blocks_) std::free(address);
}

void* HostMemory::Allocate(int64_t bytes) {
  AlignedMemory memory = AllocateAligned(bytes, kHostAlignment);
  if (memory == nullptr) return nullptr;
  void* address = memory.release();
  blocks_[address] = {.users = 1,
                      .counted = std::move(memory.get_deleter().counted)};
  return address;
}

void HostMemory::AddUser(void* address) {
  const auto entry = blocks_.find(address);
  if (entry != blocks_.end()) ++entry->second.users;
}

void HostMemory::RemoveUser(void* address) {
  const auto entry = blocks_.find(address);
  if (entry == blocks_.end() || --entry->second.users > 0) return;
  std::free(address);
  blocks_.erase(entry);
}

}  // namespace tim::vx
