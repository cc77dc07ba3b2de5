// Elements of an array go into the file, and its end is written anew each time.
#include "base/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/write_file.h"

namespace tim {
namespace {

constexpr std::string_view kEnd = "\n]\n";

Status Failure(const std::string& path, const char* what) {
  return InvalidArgument("the trace '", path, "' ", what);
}

Status FailureOfSystem(const std::string& path, const char* what) {
  const int code = errno;
  return InvalidArgument("the trace '", path, "' ", what, ": ",
                         std::strerror(code));
}

Status CheckFile(int file, const std::string& path) {
  struct stat info = {};
  if (fstat(file, &info) != 0) {
    return FailureOfSystem(path, "cannot be written");
  }
  if (!S_ISREG(info.st_mode)) return Failure(path, "is no regular file");
  // Descriptor of this process alone: one forked off does not keep it.
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(file, F_SETLK, &lock) != 0) {
    return Failure(path,
                   "is being written by another process; with %p in its name "
                   "each process has a file of its own");
  }
  if (ftruncate(file, 0) != 0) {
    return FailureOfSystem(path, "cannot be emptied");
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<TraceFile>> TraceFile::Create(const std::string& path,
                                                     std::string_view first,
                                                     int64_t max_bytes) {
  const std::string name = PathOfProcess(path);
  // Not to wait for a reader, where it is a pipe.
  const int file =
      open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return FailureOfSystem(name, "cannot be written");
  std::unique_ptr<TraceFile> made(new TraceFile(file, name, max_bytes));
  TIM_RETURN_IF_ERROR(CheckFile(file, name));
  const std::string head = StrCat("[\n", first);
  TIM_RETURN_IF_ERROR(made->WriteAt(0, StrCat(head, kEnd)));
  made->size_ = static_cast<int64_t>(head.size());
  return made;
}

TraceFile::~TraceFile() { close(file_); }

Status TraceFile::WriteAt(int64_t offset, std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = pwrite(file_, text.data(), text.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return FailureOfSystem(path_, "cannot be written");
    offset += written;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status TraceFile::Append(std::string* elements) {
  if (elements->empty()) return OkStatus();
  const auto bytes = static_cast<int64_t>(elements->size());
  if (bytes > max_bytes_ - size_) {
    return Failure(path_, "is full: it ends here, before the process does");
  }
  elements->append(kEnd);
  Status status = WriteAt(size_, *elements);
  if (status.ok()) {
    size_ += bytes;
    return status;
  }
  // The end, where it was: there is room for it.
  if (ftruncate(file_, size_) != 0) return status;
  static_cast<void>(WriteAt(size_, kEnd));
  return status;
}

}  // namespace tim
