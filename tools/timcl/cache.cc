// `timcl cache`: the folder in which built programs are kept.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/options.h"
#include "runtime/cache/private_folder.h"
#include "runtime/cache/program_cache.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

using runtime::FileFacts;
using runtime::ProgramCacheOptions;

// The user's folder, opened where it exists.
class Folder {
 public:
  static Result<Folder> Open() {
    Folder folder;
    folder.options_ = runtime::UserCacheOptions(GetOptions().cache_dir,
                                                std::getenv("XDG_CACHE_HOME"),
                                                std::getenv("HOME"));
    if (folder.path().empty()) return folder;
    std::error_code error;
    if (!std::filesystem::exists(folder.path(), error)) return folder;
    TIM_ASSIGN_OR_RETURN(folder.descriptor_,
                         runtime::OpenPrivateFolder(folder.path()));
    folder.files_ = runtime::ListFiles(folder.descriptor_);
    return folder;
  }
  Folder(Folder&& other) noexcept
      : options_(std::move(other.options_)),
        files_(std::move(other.files_)),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~Folder() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  const std::string& path() const { return options_.folder; }
  int64_t limit() const { return options_.max_disk_bytes; }
  const std::vector<FileFacts>& files() const { return files_; }
  int64_t bytes() const {
    int64_t sum = 0;
    for (const FileFacts& file : files_) sum += file.bytes;
    return sum;
  }

  Status Clear() const {
    for (const FileFacts& file : files_) {
      // Another process may have removed it.
      if (unlinkat(descriptor_, file.name.c_str(), 0) == 0 || errno == ENOENT) {
        continue;
      }
      return FailedPrecondition("'", path(), "/", file.name,
                                "' cannot be removed: ", std::strerror(errno));
    }
    return OkStatus();
  }

 private:
  Folder() = default;

  ProgramCacheOptions options_;
  std::vector<FileFacts> files_;
  int descriptor_ = -1;
};

constexpr char kNone[] =
    "No folder keeps built programs: TIMCL_CACHE_DIR is off, or HOME is not "
    "set.\n";

// "2026-01-31T12:00:00Z"
std::string TimeText(time_t time) {
  tm parts = {};
  char text[32] = "";
  if (gmtime_r(&time, &parts) != nullptr) {
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  return text;
}

// The times of the file that was not used for longest, and of the one that was
// used last.
std::pair<time_t, time_t> TimesOf(const std::vector<FileFacts>& files) {
  const auto [oldest, newest] = std::minmax_element(
      files.begin(), files.end(), [](const FileFacts& a, const FileFacts& b) {
        return a.used.tv_sec < b.used.tv_sec;
      });
  return {oldest->used.tv_sec, newest->used.tv_sec};
}

Json JsonOf(const Folder& folder) {
  Json json = {{"folder", nullptr}};
  if (folder.path().empty()) return json;
  json["folder"] = folder.path();
  json["files"] = folder.files().size();
  json["bytes"] = folder.bytes();
  json["most_bytes"] = folder.limit();
  if (!folder.files().empty()) {
    const auto [oldest, newest] = TimesOf(folder.files());
    json["least_recently_used"] = TimeText(oldest);
    json["last_used"] = TimeText(newest);
  }
  return json;
}

std::string TextOf(const Folder& folder) {
  if (folder.path().empty()) return kNone;
  std::string text =
      StrCat("folder  ", folder.path(), "\n", "holds   ", folder.files().size(),
             " files, ", Bytes(folder.bytes()), " of at most ",
             Bytes(folder.limit()), "\n");
  if (folder.files().empty()) return text;
  const auto [oldest, newest] = TimesOf(folder.files());
  return text + StrCat("used    between ", TimeText(oldest), " and ",
                       TimeText(newest), "\n");
}

}  // namespace

Result<ExitCode> ShowCache(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const Folder folder, Folder::Open());
  if (arguments.json) {
    PrintJson(JsonOf(folder));
  } else {
    Print(TextOf(folder));
  }
  return kDone;
}

Result<ExitCode> ClearCache(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const Folder folder, Folder::Open());
  TIM_RETURN_IF_ERROR(folder.Clear());
  if (arguments.json) {
    Json json = {{"folder", nullptr}};
    if (!folder.path().empty()) json["folder"] = folder.path();
    json["removed_files"] = folder.files().size();
    json["removed_bytes"] = folder.bytes();
    PrintJson(json);
  } else if (folder.path().empty()) {
    Print(kNone);
  } else {
    Print(StrCat("removed ", folder.files().size(), " files, ",
                 Bytes(folder.bytes()), ", from ", folder.path(), "\n"));
  }
  return kDone;
}

}  // namespace tim::tool
