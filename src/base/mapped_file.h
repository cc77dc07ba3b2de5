// Files as bytes in memory, without a copy.
#ifndef TIM_BASE_MAPPED_FILE_H_
#define TIM_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace tim {

/// The pages of a file, for as long as this lives.  Who shortens the file
/// meanwhile takes them away.
class MappedFile {
 public:
  explicit MappedFile(std::span<const std::byte> pages) : bytes(pages) {}
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::span<const std::byte> bytes;
};

/// kNotFound names the file and the reason: what is no ordinary file, is empty
/// or cannot be read.
Result<std::shared_ptr<const MappedFile>> MapFile(const std::string& path);

}  // namespace tim

#endif  // TIM_BASE_MAPPED_FILE_H_
