// Reads kernel texts of files, and sees that they have changed.
#include "vx/core/kernel_files.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdio>

#include "base/log.h"

namespace tim::vx {
namespace {

// Clocks of file systems tick by up to 10 ms.
constexpr int64_t kFreshNanoseconds = 100'000'000;

int64_t NowNanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Nothing where it cannot be read, as a folder cannot.
std::optional<std::string> Content(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  char piece[4096];
  size_t count = 0;
  while ((count = std::fread(piece, 1, sizeof(piece), file)) > 0) {
    text.append(piece, count);
  }
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return std::nullopt;
  return text;
}

}  // namespace

KernelFiles::Stamp KernelFiles::StampOf(const std::string& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return {.exists = true,
          .inode = static_cast<uint64_t>(facts.st_ino),
          .size = static_cast<int64_t>(facts.st_size),
          .modified = static_cast<int64_t>(facts.st_mtim.tv_sec) *
                          int64_t{1'000'000'000} +
                      static_cast<int64_t>(facts.st_mtim.tv_nsec)};
}

// The stamp is taken first: a change in between is seen the next time.
void KernelFiles::Read(File* file) {
  file->stamp = StampOf(file->path);
  file->fresh = file->stamp.exists &&
                NowNanoseconds() - file->stamp.modified < kFreshNanoseconds;
  file->read.reset();
  if (!file->stamp.exists) return;
  file->read = Content(file->path);
  if (file->read) return;
  TIM_LOG(kWarning, "TIMCL_KERNEL_OVERRIDE: '", file->path,
          "' cannot be read; it counts as if it were not there");
}

bool KernelFiles::Changed(const File& file) {
  return file.fresh || StampOf(file.path) != file.stamp;
}

std::optional<std::string> KernelFiles::TextOf(
    const std::string& operator_name) {
  const std::string name = operator_name.substr(operator_name.find('.') + 1);
  if (name.find('/') != std::string::npos) return std::nullopt;
  const auto [entry, added] = files_.try_emplace(name);
  File& file = entry->second;
  if (added) {
    file.path = StrCat(folder_, "/", name, ".cl");
    Read(&file);
    file.text = file.read;
  }
  return file.text;
}

bool KernelFiles::Refresh() {
  bool changed = false;
  for (auto& [name, file] : files_) {
    if (!Changed(file)) continue;
    const Text before = file.read;
    Read(&file);
    if (file.read == before) continue;
    file.text = file.read;
    changed = true;
  }
  return changed;
}

bool KernelFiles::HasNew() const {
  for (const auto& [name, file] : files_) {
    if (file.text != file.accepted) return true;
  }
  return false;
}

void KernelFiles::Accept() {
  for (auto& [name, file] : files_) file.accepted = file.text;
}

void KernelFiles::Reject() {
  for (auto& [name, file] : files_) file.text = file.accepted;
}

std::string KernelFiles::NewPaths() const {
  std::string paths;
  for (const auto& [name, file] : files_) {
    if (file.text == file.accepted) continue;
    paths += StrCat(paths.empty() ? "'" : ", '", file.path, "'");
  }
  return paths;
}

}  // namespace tim::vx
