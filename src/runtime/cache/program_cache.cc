#include "runtime/cache/program_cache.h"

#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "base/log_once.h"
#include "base/trace.h"
#include "runtime/cache/cache_entry.h"

namespace tim::runtime {
namespace {

// Keys may hold any bytes; the file itself names the key that it is for.
std::string FileName(std::string_view key) {
  return HashText(key).ToString() + ".bin";
}

// Every context meets it again.
void WarnOnce(const Status& status) {
  TIM_LOG_ONCE(kWarning,
               "built programs are not kept on disk: ", status.message(),
               " (TIMCL_CACHE_DIR names the folder)");
}

std::unique_ptr<CacheFolder> OpenFolder(const ProgramCacheOptions& options) {
  if (options.folder.empty()) return nullptr;
  auto folder = CacheFolder::Open(options.folder, options.max_disk_bytes);
  if (folder.ok()) return *std::move(folder);
  WarnOnce(folder.status());
  return nullptr;
}

}  // namespace

ProgramCacheOptions UserCacheOptions(const std::string& cache_dir,
                                     const char* xdg_cache_home,
                                     const char* home) {
  if (cache_dir == "off") return {.folder = "", .max_memory_bytes = 0};
  if (!cache_dir.empty()) return {.folder = cache_dir};
  // The XDG specification: a relative path is invalid and ignored.
  if (xdg_cache_home != nullptr && xdg_cache_home[0] == '/') {
    return {.folder = StrCat(xdg_cache_home, "/tim-cl")};
  }
  if (home != nullptr && home[0] == '/') {
    return {.folder = StrCat(home, "/.cache/tim-cl")};
  }
  return {};
}

ProgramCache::ProgramCache(const ProgramCacheOptions& options,
                           std::unique_ptr<CacheFolder> folder)
    : max_memory_bytes_(options.max_memory_bytes), folder_(std::move(folder)) {}

std::shared_ptr<ProgramCache> ProgramCache::Create(
    const ProgramCacheOptions& options) {
  return std::shared_ptr<ProgramCache>(
      new ProgramCache(options, OpenFolder(options)));
}

std::optional<std::string> ProgramCache::Load(std::string_view key) {
  TraceSpan span("cache", "program cache");
  const std::string name(key);
  if (auto bytes = LoadFromMemory(name)) {
    span.Add("hit", "memory");
    return bytes;
  }
  auto bytes = folder_ != nullptr ? LoadFromDisk(name) : std::nullopt;
  if (bytes) KeepInMemory(name, *bytes);
  span.Add("hit", bytes ? "disk" : "none");
  return bytes;
}

std::optional<std::string> ProgramCache::LoadFromMemory(
    const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = memory_.find(key);
  if (it == memory_.end()) return std::nullopt;
  ++memory_hits_;
  return it->second;
}

std::optional<std::string> ProgramCache::LoadFromDisk(const std::string& key) {
  const auto file = folder_->Read(FileName(key));
  if (!file) return std::nullopt;
  auto bytes = DecodeEntry(key, *file);
  if (bytes) {
    ++disk_hits_;
  } else {
    ++rejected_;
    TIM_LOG(kInfo, "the cached program ", FileName(key),
            " is damaged and will be built again");
  }
  return bytes;
}

void ProgramCache::KeepInMemory(const std::string& key,
                                std::string_view bytes) {
  if (bytes.empty()) return;  // no driver's program is empty
  const int64_t size = static_cast<int64_t>(bytes.size());
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string& kept = memory_[key];
  memory_bytes_ += size - static_cast<int64_t>(kept.size());
  if (kept.empty()) age_.push_back(key);
  kept = bytes;
  while (memory_bytes_ > max_memory_bytes_ && !age_.empty()) {
    const auto oldest = memory_.find(age_.front());
    memory_bytes_ -= static_cast<int64_t>(oldest->second.size());
    memory_.erase(oldest);
    age_.pop_front();
  }
}

void ProgramCache::Store(std::string_view key, std::string_view bytes) {
  const std::string name(key);
  KeepInMemory(name, bytes);
  if (folder_ == nullptr) return;
  const Status status = folder_->Write(FileName(key), EncodeEntry(key, bytes));
  if (!status.ok()) WarnOnce(status);
}

}  // namespace tim::runtime
