// Maps ordinary files, and says what else there is.
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tim {
namespace {

Status CannotRead(const std::string& path, const std::string& reason) {
  return NotFound("'", path, "' cannot be read: ", reason);
}

Status CannotRead(const std::string& path, int error) {
  return CannotRead(path, std::generic_category().message(error));
}

Result<std::shared_ptr<const MappedFile>> MapDescriptor(const std::string& path,
                                                        int file) {
  struct stat facts = {};
  if (fstat(file, &facts) != 0) return CannotRead(path, errno);
  if (!S_ISREG(facts.st_mode)) {
    return CannotRead(path, S_ISDIR(facts.st_mode)
                                ? "it is a folder; name the file in it"
                                : "it is no ordinary file");
  }
  if (facts.st_size == 0) return CannotRead(path, "it is empty");
  const auto size = static_cast<size_t>(facts.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) return CannotRead(path, errno);
  return std::make_shared<const MappedFile>(
      std::span(static_cast<const std::byte*>(memory), size));
}

}  // namespace

MappedFile::~MappedFile() {
  munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

Result<std::shared_ptr<const MappedFile>> MapFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return CannotRead(path, errno);
  auto mapped = MapDescriptor(path, file);
  close(file);
  return mapped;
}

}  // namespace tim
