// The preprocessor, as far as the parameters of kernels need it.
#ifndef TIM_KERNELS_TEXT_PREPROCESS_H_
#define TIM_KERNELS_TEXT_PREPROCESS_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "kernels/text/macro_table.h"

namespace tim::kernels {

/// What is left of `text`, whose directives have a line each, where `macros`
/// are defined before: no directives, no macros, no comments.  Fails on
/// conditions that it cannot evaluate.
Result<std::string> Preprocess(std::string_view text, MacroTable macros);

/// The value of what stands after "#if ", 0 or not.
Result<bool> EvaluateCondition(std::string_view condition,
                               const MacroTable& macros);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_TEXT_PREPROCESS_H_
