// Files that are written at once.
#ifndef TIM_BASE_WRITE_FILE_H_
#define TIM_BASE_WRITE_FILE_H_

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tim {

/// A file of the pieces, one behind the other, in place of what is there.
/// kInvalidArgument names the file and the system's reason.
Status WriteFile(const std::string& path,
                 std::initializer_list<std::string_view> pieces);

/// An empty file where there is none of the name; false where there is one.
Result<bool> CreateFile(const std::string& path);

/// The same of bytes: a file that only the user may read, whole or as it was
/// before, whenever the process ends.
Status ReplaceFile(const std::string& path, std::span<const std::byte> bytes);

/// `path` where every "%p" is the number of this process.
std::string PathOfProcess(const std::string& path);

/// The folder and those around it, where they are not there.
Status CreateFolder(const std::string& path);

}  // namespace tim

#endif  // TIM_BASE_WRITE_FILE_H_
