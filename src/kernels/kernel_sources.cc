#include "kernels/kernel_sources.h"

#include <algorithm>

namespace tim::kernels {
namespace {

const char* Find(std::span<const KernelSource> files, std::string_view name) {
  const auto found =
      std::lower_bound(files.begin(), files.end(), name,
                       [](const KernelSource& file, std::string_view key) {
                         return file.name < key;
                       });
  if (found == files.end() || found->name != name) return nullptr;
  return found->text;
}

}  // namespace

const char* FindSource(std::string_view name) {
  return Find(EmbeddedSources(), name);
}

const char* FindHeader(std::string_view name) {
  return Find(EmbeddedHeaders(), name);
}

}  // namespace tim::kernels
