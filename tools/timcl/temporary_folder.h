// Folders for files that nobody needs afterwards.
#ifndef TIM_TOOLS_TIMCL_TEMPORARY_FOLDER_H_
#define TIM_TOOLS_TIMCL_TEMPORARY_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "base/status.h"

namespace tim::tool {

/// A folder that only the user may read, removed with the object.
class TemporaryFolder {
 public:
  /// \param purpose "empty caches": named where no folder can be made.
  static Result<std::unique_ptr<TemporaryFolder>> Create(
      const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_TEMPORARY_FOLDER_H_
