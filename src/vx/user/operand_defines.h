// What a custom operator's kernels know of shapes and of optional inputs.
#ifndef TIM_VX_USER_OPERAND_DEFINES_H_
#define TIM_VX_USER_OPERAND_DEFINES_H_

#include <string>
#include <vector>

#include "vx/operation/custom_means.h"
#include "vx/operation/operand_specs.h"

namespace tim::vx {

/// TIM_HAS_INPUT2 of optional inputs, TIM_INDEX_INPUT0(x0, x1) and
/// TIM_SIZE_INPUT0_1 of every tensor that is there, as
/// ir::UserLaunch::defines.  Those that neither `text` nor `options` can
/// mention are left out, so that shapes make no program of their own where they
/// do not matter.
std::vector<std::string> OperandDefines(const OperandSpecs& operands,
                                        const CustomMeans& means,
                                        const std::string& text,
                                        const std::string& options);

}  // namespace tim::vx

#endif  // TIM_VX_USER_OPERAND_DEFINES_H_
