// Files and folders, with errors that name them.
#include "base/write_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

namespace tim {
namespace {

Status Failure(const char* what, const std::string& path, int error) {
  return InvalidArgument(what, " '", path,
                         "': ", std::generic_category().message(error));
}

}  // namespace

Status WriteFile(const std::string& path,
                 std::initializer_list<std::string_view> pieces) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Failure("cannot write", path, errno);
  bool written = true;
  for (const std::string_view piece : pieces) {
    written = written &&
              std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
  }
  int error = errno;
  if (std::fclose(file) != 0) {
    if (written) error = errno;
    written = false;
  }
  return written ? OkStatus() : Failure("cannot write", path, error);
}

Status ReplaceFile(const std::string& path, std::span<const std::byte> bytes) {
  std::string temporary = path + ".XXXXXX";
  const int made = mkstemp(temporary.data());
  if (made < 0) return Failure("cannot write", path, errno);
  std::FILE* const file = fdopen(made, "wb");
  bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(),
                                                file) == bytes.size();
  int error = errno;
  const int closed = file != nullptr ? std::fclose(file) : close(made);
  if (written &&
      (closed != 0 || std::rename(temporary.c_str(), path.c_str()) != 0)) {
    error = errno;
    written = false;
  }
  if (written) return OkStatus();
  std::remove(temporary.c_str());
  return Failure("cannot write", path, error);
}

std::string PathOfProcess(const std::string& path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path.compare(i, 2, "%p") != 0) {
      out += path[i];
      continue;
    }
    out += StrCat(getpid());
    ++i;
  }
  return out;
}

Result<bool> CreateFile(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wbx");
  if (file == nullptr) {
    if (errno == EEXIST) return false;
    return Failure("cannot write", path, errno);
  }
  std::fclose(file);
  return true;
}

Status CreateFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Failure("cannot make the folder", path, error.value());
  if (!std::filesystem::is_directory(path, error)) {
    return Failure("cannot make the folder", path, ENOTDIR);
  }
  return OkStatus();
}

}  // namespace tim
