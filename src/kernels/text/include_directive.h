// Whether a program is more than its text.
#ifndef TIM_KERNELS_TEXT_INCLUDE_DIRECTIVE_H_
#define TIM_KERNELS_TEXT_INCLUDE_DIRECTIVE_H_

#include <string_view>

namespace tim::kernels {

/// Whether the compiler may read files for `text`, or look whether there are
/// any.  What is in comments, in literals or left out by #if counts too: in
/// doubt the answer is yes.
bool IncludesFiles(std::string_view text, std::string_view options);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_INCLUDE_DIRECTIVE_H_
