// Files and folders, with errors that name them.
#include "base/write_file.h"

#include <cerrno>
#include <cstdio>
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
