// The kernel texts of the library, and what the build has read in them.
#ifndef TIM_KERNELS_KERNEL_SOURCES_H_
#define TIM_KERNELS_KERNEL_SOURCES_H_

#include <span>
#include <string_view>

#include "kernels/text/text_facts.h"

namespace tim::kernels {

/// One .cl or .clh file, the shared .clh text that it includes written into it.
/// #line directives keep the names and line numbers of the files in build
/// errors.
struct KernelSource {
  const char* name = nullptr;  // "ops/normalization/softmax.cl"
  const char* text = nullptr;
  KernelFacts facts = {};
  const char* signatures = "";    ///< SignaturesOf() it.
  std::string_view options = {};  ///< OptionsOf() it, with spaces between them.
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

/// The file of that name, or null, and its text.
const KernelSource* FindKernelSource(std::string_view name);
const char* FindSource(std::string_view name);

/// Every .clh file of ops/ and src/kernels/, sorted by name: what a launch may
/// ask for before its source (ir::KernelLaunch::headers).
std::span<const KernelSource> EmbeddedHeaders();
const KernelSource* FindKernelHeader(std::string_view name);
const char* FindHeader(std::string_view name);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_KERNEL_SOURCES_H_
