#ifndef TIM_KERNELS_KERNEL_SOURCES_H_
#define TIM_KERNELS_KERNEL_SOURCES_H_

#include <span>
#include <string_view>

namespace tim::kernels {

/// One .cl or .clh file, the shared .clh text that it includes written into it.
/// #line directives keep the names and line numbers of the files in build
/// errors.
struct KernelSource {
  const char* name = nullptr;  // "ops/normalization/softmax.cl"
  const char* text = nullptr;
};

/// Stands before every program.  Where a vector has no register of its size,
/// clang warns that functions which take one have another calling convention;
/// no kernel has such functions outside of its own program.
inline constexpr std::string_view kPreamble =
    "#ifdef __clang__\n"
    "#if __has_warning(\"-Wpsabi\")\n"
    "#pragma clang diagnostic ignored \"-Wpsabi\"\n"
    "#endif\n"
    "#endif\n";

/// Every .cl file of ops/ and src/kernels/, sorted by name.
std::span<const KernelSource> EmbeddedSources();

/// The text of the file of that name, or null.
const char* FindSource(std::string_view name);

/// Every .clh file of ops/ and src/kernels/, sorted by name: what a launch may
/// ask for before its source (ir::KernelLaunch::headers).
std::span<const KernelSource> EmbeddedHeaders();
const char* FindHeader(std::string_view name);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_KERNEL_SOURCES_H_
