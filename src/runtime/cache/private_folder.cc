#include "runtime/cache/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace tim::runtime {
namespace {

// A temporary file of this age was left by a process that died.
constexpr time_t kStaleSeconds = 3600;

std::string ErrorText() { return std::strerror(errno); }

bool IsTemporary(std::string_view name) {
  return name.starts_with(kTemporaryPrefix);
}

// mkdir -p, private.
Status MakeFolders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return FailedPrecondition("cannot create '", part, "': ", ErrorText());
    }
    if (end == std::string::npos) return OkStatus();
  }
}

// As chmod has it: "775".
std::string ModeText(mode_t mode) {
  std::string digits;
  for (const int shift : {6, 3, 0}) digits += StrCat(mode >> shift & 7);
  return digits;
}

// Of the opened folder itself, so that nobody can exchange it in between.
Status CheckPrivate(int descriptor, const std::string& path) {
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0) {
    return FailedPrecondition("cannot inspect '", path, "': ", ErrorText());
  }
  if (facts.st_uid != geteuid()) {
    return FailedPrecondition("'", path, "' belongs to user ", facts.st_uid,
                              ", not to user ", geteuid());
  }
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return FailedPrecondition(
        "'", path, "' is writable by its group or by others (mode ",
        ModeText(facts.st_mode), "); chmod 700 makes it private");
  }
  return OkStatus();
}

}  // namespace

Result<int> OpenPrivateFolder(const std::string& path) {
  TIM_RETURN_IF_ERROR(MakeFolders(path));
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return FailedPrecondition("cannot open '", path,
                              "' as a folder: ", ErrorText());
  }
  if (Status status = CheckPrivate(descriptor, path); !status.ok()) {
    close(descriptor);
    return status;
  }
  return descriptor;
}

std::vector<FileFacts> ListFiles(int folder) {
  std::vector<FileFacts> files;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* directory = copy >= 0 ? fdopendir(copy) : nullptr;
  if (directory == nullptr) {
    if (copy >= 0) close(copy);
    return files;
  }
  while (const dirent* entry = readdir(directory)) {
    struct stat facts = {};
    if (fstatat(folder, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode)) {
      continue;
    }
    if (!IsTemporary(entry->d_name)) {
      files.push_back({entry->d_name, facts.st_size, facts.st_mtim});
    } else if (facts.st_mtim.tv_sec + kStaleSeconds < time(nullptr)) {
      unlinkat(folder, entry->d_name, 0);
    }
  }
  closedir(directory);
  return files;
}

}  // namespace tim::runtime
