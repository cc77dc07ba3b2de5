#include "runtime/cache/stored_programs.h"

namespace tim::runtime {

std::optional<std::string> StoredPrograms::Load(std::string_view key) {
  const auto stored = programs_.find(std::string(key));
  if (stored == programs_.end()) return behind_->Load(key);
  const std::span<const std::byte> bytes = stored->second;
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void UsedPrograms::Use(std::string_view key, device::ProgramBinary binary) {
  behind_.Use(key, binary);
  const std::lock_guard lock(mutex_);
  binaries_.insert_or_assign(std::string(key), std::move(binary));
}

}  // namespace tim::runtime
