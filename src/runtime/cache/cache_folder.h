// A private folder of cache files, shared by the user's processes.
#ifndef TIM_RUNTIME_CACHE_CACHE_FOLDER_H_
#define TIM_RUNTIME_CACHE_CACHE_FOLDER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tim::runtime {

/// Files appear whole or not at all (written aside and renamed), so that
/// processes need no locks.  Any thread.
class CacheFolder {
 public:
  /// Creates missing folders with mode 0700.  Refuses a path that is no
  /// folder, is not the user's, or that group or others may write to: built
  /// programs are code.
  static Result<std::unique_ptr<CacheFolder>> Open(const std::string& path,
                                                   int64_t max_bytes);
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  /// Nothing where there is no such file; marks the file as used now.
  std::optional<std::string> Read(const std::string& name) const;
  /// Keeps the folder within max_bytes: the least recently used go first.
  Status Write(const std::string& name, std::string_view bytes);

 private:
  CacheFolder(int descriptor, std::string path, int64_t max_bytes);

  Status WriteFile(const std::string& name, std::string_view bytes) const;
  void Evict();

  const int descriptor_;
  const std::string path_;
  const int64_t max_bytes_;
  std::mutex mutex_;
  int64_t used_bytes_ = 0;  // as this process knows it
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CACHE_CACHE_FOLDER_H_
