// Makes and removes temporary folders.
#include "tools/timcl/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tim::tool {

namespace fs = std::filesystem;

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Create(
    const std::string& purpose) {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "timcl-XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return FailedPrecondition("no folder for ", purpose,
                              " can be made: ", std::strerror(errno),
                              "; TMPDIR says where they go");
  }
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace tim::tool
