// What a custom operator's kernel knows of its operands' quantization.
#ifndef TIM_VX_USER_QUANTIZATION_MACROS_H_
#define TIM_VX_USER_QUANTIZATION_MACROS_H_

#include <string>

#include "vx/operation/operand_specs.h"

namespace tim::vx {

/// `options` behind definitions of TIM_SCALE_INPUT0, TIM_ZERO_POINT_OUTPUT1
/// and so on, for every operand that is not quantized per channel.  Those that
/// neither `text` nor `options` can mention are left out, so that quantization
/// makes no program of its own where it does not matter.
std::string WithQuantization(const OperandSpecs& operands,
                             const std::string& text,
                             const std::string& options);

}  // namespace tim::vx

#endif  // TIM_VX_USER_QUANTIZATION_MACROS_H_
