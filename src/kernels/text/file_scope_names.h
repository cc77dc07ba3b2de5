// The names that a kernel text defines for the rest of its program.
#ifndef TIM_KERNELS_TEXT_FILE_SCOPE_NAMES_H_
#define TIM_KERNELS_TEXT_FILE_SCOPE_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::kernels {

/// Functions with a body, and types by their typedefs, each once, in the order
/// of their definitions; fails where other names may be defined: by a struct's
/// tag, an enum, a typedef of an array or a function, or by a macro that is
/// called outside of functions.
Result<std::vector<std::string>> FileScopeNames(std::string_view text);

/// Macros, by their #define lines, each once.
std::vector<std::string> MacroNames(std::string_view text);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_FILE_SCOPE_NAMES_H_
