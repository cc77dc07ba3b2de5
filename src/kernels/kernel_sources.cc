#include "kernels/kernel_sources.h"

#include <algorithm>

namespace tim::kernels {
namespace {

const KernelSource* Find(std::span<const KernelSource> files,
                         std::string_view name) {
  const auto found =
      std::lower_bound(files.begin(), files.end(), name,
                       [](const KernelSource& file, std::string_view key) {
                         return file.name < key;
                       });
  return found == files.end() || found->name != name ? nullptr : &*found;
}

const char* TextOf(const KernelSource* file) {
  return file == nullptr ? nullptr : file->text;
}

}  // namespace

const KernelSource* FindKernelSource(std::string_view name) {
  return Find(EmbeddedSources(), name);
}

const char* FindSource(std::string_view name) {
  return TextOf(FindKernelSource(name));
}

const KernelSource* FindKernelHeader(std::string_view name) {
  return Find(EmbeddedHeaders(), name);
}

const char* FindHeader(std::string_view name) {
  return TextOf(FindKernelHeader(name));
}

}  // namespace tim::kernels
