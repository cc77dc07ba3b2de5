#include "runtime/cache/cache_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "runtime/cache/private_folder.h"

namespace tim::runtime {
namespace {

std::string ErrorText() { return std::strerror(errno); }

bool WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::optional<std::string> ReadAll(int descriptor, size_t size) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t count = read(descriptor, bytes.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<size_t>(count);
  }
  return bytes;
}

int64_t TotalBytes(const std::vector<FileFacts>& files) {
  int64_t total = 0;
  for (const FileFacts& file : files) total += file.bytes;
  return total;
}

std::string TemporaryName() {
  static constinit std::atomic<int> next = 0;
  return StrCat(kTemporaryPrefix, getpid(), "-", next++);
}

}  // namespace

CacheFolder::CacheFolder(int descriptor, std::string path, int64_t max_bytes)
    : descriptor_(descriptor),
      path_(std::move(path)),
      max_bytes_(max_bytes),
      used_bytes_(TotalBytes(ListFiles(descriptor))) {}

CacheFolder::~CacheFolder() { close(descriptor_); }

Result<std::unique_ptr<CacheFolder>> CacheFolder::Open(const std::string& path,
                                                       int64_t max_bytes) {
  TIM_ASSIGN_OR_RETURN(const int descriptor, OpenPrivateFolder(path));
  return std::unique_ptr<CacheFolder>(
      new CacheFolder(descriptor, path, max_bytes));
}

std::optional<std::string> CacheFolder::Read(const std::string& name) const {
  const int file =
      openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<std::string> bytes;
  struct stat facts = {};
  if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
      facts.st_size <= max_bytes_) {
    bytes = ReadAll(file, facts.st_size);
    futimens(file, nullptr);
  }
  close(file);
  return bytes;
}

Status CacheFolder::WriteFile(const std::string& name,
                              std::string_view bytes) const {
  const std::string temporary = TemporaryName();
  const int file =
      openat(descriptor_, temporary.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    return FailedPrecondition("cannot write to '", path_, "': ", ErrorText());
  }
  const bool written = WriteAll(file, bytes);
  const bool closed = close(file) == 0;
  if (written && closed &&
      renameat(descriptor_, temporary.c_str(), descriptor_, name.c_str()) ==
          0) {
    return OkStatus();
  }
  const Status status =
      FailedPrecondition("cannot write to '", path_, "': ", ErrorText());
  unlinkat(descriptor_, temporary.c_str(), 0);
  return status;
}

Status CacheFolder::Write(const std::string& name, std::string_view bytes) {
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (size > max_bytes_) {
    return FailedPrecondition("a file of ", size, " bytes exceeds the ",
                              max_bytes_, " of '", path_, "'");
  }
  TIM_RETURN_IF_ERROR(WriteFile(name, bytes));
  const std::lock_guard<std::mutex> lock(mutex_);
  used_bytes_ += size;
  if (used_bytes_ > max_bytes_) Evict();
  return OkStatus();
}

void CacheFolder::Evict() {
  std::vector<FileFacts> files = ListFiles(descriptor_);
  const auto older = [](const FileFacts& a, const FileFacts& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                          : a.used.tv_nsec < b.used.tv_nsec;
  };
  std::sort(files.begin(), files.end(), older);
  used_bytes_ = TotalBytes(files);
  for (const FileFacts& file : files) {
    if (used_bytes_ <= max_bytes_) return;
    if (unlinkat(descriptor_, file.name.c_str(), 0) == 0) {
      used_bytes_ -= file.bytes;
    }
  }
}

}  // namespace tim::runtime
