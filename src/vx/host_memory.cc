#include "vx/host_memory.h"

#include <cstdlib>

#include "base/checked_math.h"

namespace tim::vx {

HostMemory::~HostMemory() {
  for (const auto& [block, users] : users_) std::free(block);
}

void* HostMemory::Allocate(int64_t bytes) {
  constexpr auto kAlignment = static_cast<int64_t>(kHostAlignment);
  if (bytes > INT64_MAX - kAlignment) return nullptr;
  void* block = std::aligned_alloc(
      kHostAlignment, static_cast<size_t>(AlignUp(bytes, kAlignment)));
  if (block != nullptr) users_[block] = 1;
  return block;
}

void HostMemory::AddUser(void* block) {
  const auto entry = users_.find(block);
  if (entry != users_.end()) ++entry->second;
}

void HostMemory::RemoveUser(void* block) {
  const auto entry = users_.find(block);
  if (entry == users_.end() || --entry->second > 0) return;
  std::free(block);
  users_.erase(entry);
}

}  // namespace tim::vx
