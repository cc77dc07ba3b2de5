// Reads files whole.
#include "tools/timcl/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tim::tool {

Result<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return NotFound("'", path, "' cannot be read: it is a folder");
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    return NotFound("'", path, "' cannot be read: ", std::strerror(errno));
  }
  return bytes;
}

}  // namespace tim::tool
