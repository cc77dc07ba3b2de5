// Built programs, in memory and on disk.
#ifndef TIM_RUNTIME_CACHE_PROGRAM_CACHE_H_
#define TIM_RUNTIME_CACHE_PROGRAM_CACHE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"
#include "runtime/cache/cache_folder.h"

namespace tim::runtime {

struct ProgramCacheOptions {
  /// Folder of the files; "" keeps programs in memory only.
  std::string folder = {};
  int64_t max_disk_bytes = int64_t{512} << 20;
  int64_t max_memory_bytes = int64_t{64} << 20;
};

/// A folder that cannot be used safely costs one warning of the process and the
/// disk cache, nothing else.  A damaged file counts as absent.  Any thread.
class ProgramCache final : public device::BinaryStore {
 public:
  static std::shared_ptr<ProgramCache> Create(
      const ProgramCacheOptions& options);

  std::optional<std::string> Load(std::string_view key) override;
  void Store(std::string_view key, std::string_view bytes) override;
  bool keeps() const override {
    return folder_ != nullptr || max_memory_bytes_ > 0;
  }
  void CountBuild() override { ++builds_; }

  bool has_folder() const { return folder_ != nullptr; }
  int builds() const { return builds_; }  ///< From source.
  int memory_hits() const { return memory_hits_; }
  int disk_hits() const { return disk_hits_; }
  int rejected() const { return rejected_; }  ///< Damaged files met.

 private:
  ProgramCache(const ProgramCacheOptions& options,
               std::unique_ptr<CacheFolder> folder);

  std::optional<std::string> LoadFromMemory(const std::string& key);
  std::optional<std::string> LoadFromDisk(const std::string& key);
  void KeepInMemory(const std::string& key, std::string_view bytes);

  const int64_t max_memory_bytes_;
  const std::unique_ptr<CacheFolder> folder_;  // null: memory only
  std::mutex mutex_;
  std::map<std::string, std::string> memory_;
  std::deque<std::string> age_;  // keys of memory_, oldest first
  int64_t memory_bytes_ = 0;
  std::atomic<int> builds_ = 0;
  std::atomic<int> memory_hits_ = 0;
  std::atomic<int> disk_hits_ = 0;
  std::atomic<int> rejected_ = 0;
};

/// Of the user's cache: in `cache_dir` (TIMCL_CACHE_DIR), or in
/// $XDG_CACHE_HOME/tim-cl or $HOME/.cache/tim-cl, which are null where unset;
/// in memory only where none names a place, and nowhere where `cache_dir` is
/// "off".
ProgramCacheOptions UserCacheOptions(const std::string& cache_dir,
                                     const char* xdg_cache_home,
                                     const char* home);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CACHE_PROGRAM_CACHE_H_
