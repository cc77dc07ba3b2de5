// Writes and reads the programs of an engine as one blob.
#include "graph_api/engine_programs.h"

#include <cstring>
#include <utility>

#include "base/aligned_memory.h"
#include "base/log.h"
#include "binary/program_file.h"

namespace tim::graph {
namespace {

// No program has the empty key: there stands what the blob is for.
constexpr char kIdentity[] = "";
constexpr int64_t kAlignment = 64;

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void EnginePrograms::TakeBlob(std::span<const uint8_t> blob) {
  const Status status = Read(blob);
  if (status.ok()) return;
  TIM_LOG(kInfo, "the engine's cache blob of ", blob.size(),
          " bytes is ignored: ", status.message());
}

Status EnginePrograms::Read(std::span<const uint8_t> blob) {
  const auto size = static_cast<int64_t>(blob.size());
  const AlignedMemory file = AllocateAligned(size, kAlignment);
  if (file == nullptr) return OutOfMemory("no memory to read it");
  if (!blob.empty()) std::memcpy(file.get(), blob.data(), blob.size());
  TIM_ASSIGN_OR_RETURN(
      const auto programs,
      binary::ReadPrograms(
          {reinterpret_cast<const std::byte*>(file.get()), blob.size()}));
  const auto identity = programs.find(kIdentity);
  if (identity == programs.end()) {
    return InvalidArgument("it does not say which device it is for");
  }
  const std::string made_for = TextOf(identity->second);
  if (made_for != identity_) {
    return InvalidArgument("it is for '", made_for,
                           "', the engine's device is '", identity_, "'");
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [key, bytes] : programs) {
    if (key != kIdentity) stored_[key] = TextOf(bytes);
  }
  return OkStatus();
}

std::vector<uint8_t> EnginePrograms::Blob() {
  binary::Programs programs;
  std::map<std::string, device::ProgramBinary> used;
  {
    const std::lock_guard lock(mutex_);
    programs = stored_;
    used = used_;
  }
  for (const auto& [key, binary] : used) {
    if (auto bytes = binary()) programs[key] = *std::move(bytes);
  }
  programs[kIdentity] = identity_;
  const std::vector<std::byte> file =
      binary::EncodePrograms(programs).ToBytes();
  std::vector<uint8_t> blob(file.size());
  std::memcpy(blob.data(), file.data(), file.size());
  return blob;
}

std::optional<std::string> EnginePrograms::Load(std::string_view key) {
  {
    const std::lock_guard lock(mutex_);
    const auto stored = stored_.find(std::string(key));
    if (stored != stored_.end()) return stored->second;
  }
  return behind_->Load(key);
}

void EnginePrograms::Use(std::string_view key, device::ProgramBinary binary) {
  const std::lock_guard lock(mutex_);
  used_.insert_or_assign(std::string(key), std::move(binary));
}

}  // namespace tim::graph
