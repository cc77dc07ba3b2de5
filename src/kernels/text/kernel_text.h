// Where a program's text defines a function, before the preprocessor.
#ifndef TIM_KERNELS_TEXT_KERNEL_TEXT_H_
#define TIM_KERNELS_TEXT_KERNEL_TEXT_H_

#include <string_view>
#include <vector>

namespace tim::kernels {

/// Views into the text.
struct KernelText {
  /// The tokens of each; none for "()".
  std::vector<std::vector<std::string_view>> parameters;
  std::string_view body;  ///< Between the braces.
};

/// Several where the preprocessor chooses one; none where a macro or another
/// file defines the function.
std::vector<KernelText> DefinitionsOf(std::string_view function,
                                      std::string_view text);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_KERNEL_TEXT_H_
