// Folders that only their user may write to.
#ifndef TIM_RUNTIME_CACHE_PRIVATE_FOLDER_H_
#define TIM_RUNTIME_CACHE_PRIVATE_FOLDER_H_

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "base/status.h"

namespace tim::runtime {

/// Files that are being written begin with it.
inline constexpr char kTemporaryPrefix[] = ".tmp-";

struct FileFacts {
  std::string name;
  int64_t bytes = 0;
  timespec used = {};  ///< When it was last written or used.
};

/// A descriptor of the folder, which is created with mode 0700 where it is
/// missing.  Fails where the path is no folder, belongs to another user, or may
/// be written to by group or others.
Result<int> OpenPrivateFolder(const std::string& path);

/// The complete files of a folder.  Temporary ones that a dead process left
/// are removed.
std::vector<FileFacts> ListFiles(int folder);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CACHE_PRIVATE_FOLDER_H_
