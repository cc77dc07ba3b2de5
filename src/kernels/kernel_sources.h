#ifndef TIM_KERNELS_KERNEL_SOURCES_H_
#define TIM_KERNELS_KERNEL_SOURCES_H_

#include <span>
#include <string_view>

namespace tim::kernels {

/// One .cl file, the shared .clh text that it includes written into it. #line
/// directives keep the names and line numbers of the files in build errors.
struct KernelSource {
  const char* name = nullptr;  // "ops/softmax.cl"
  const char* text = nullptr;
};

/// Every .cl file of ops/ and src/kernels/, sorted by name.
std::span<const KernelSource> EmbeddedSources();

/// The text of the file of that name, or null.
const char* FindSource(std::string_view name);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_KERNEL_SOURCES_H_
