// Declarations of the builtin functions that a program calls.
#ifndef TIM_DEVICE_OPENCL_PROGRAM_BUILTIN_FUNCTIONS_H_
#define TIM_DEVICE_OPENCL_PROGRAM_BUILTIN_FUNCTIONS_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tim::device {

/// Leaves out clang's header of all builtin functions.
inline constexpr std::string_view kWithoutBuiltinHeader = " -D_OPENCL_H_";

/// OpenCL C 1.2 that declares, with all overloads, every builtin function whose
/// name one of `texts` (sources, options) has; it stands before them, and does
/// not change the names and numbers of their lines.  Nothing where a text may
/// call functions that are not among those declared here (images, events,
/// results by pointer, other versions of the language, names that the
/// preprocessor makes): such a program needs the whole header.
std::optional<std::string> DeclareBuiltins(
    std::initializer_list<std::string_view> texts);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PROGRAM_BUILTIN_FUNCTIONS_H_
