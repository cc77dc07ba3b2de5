#include "kernels/kernel_sources.h"

#include <algorithm>

namespace tim::kernels {

const char* FindSource(std::string_view name) {
  const std::span<const KernelSource> sources = EmbeddedSources();
  const auto found =
      std::lower_bound(sources.begin(), sources.end(), name,
                       [](const KernelSource& source, std::string_view key) {
                         return source.name < key;
                       });
  if (found == sources.end() || found->name != name) return nullptr;
  return found->text;
}

}  // namespace tim::kernels
