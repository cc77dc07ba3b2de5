// A program that repeats a fault.
#ifndef TIM_VX_CHECK_PROGRAM_TEXT_H_
#define TIM_VX_CHECK_PROGRAM_TEXT_H_

#include <string>

#include "tim/vx/custom_op_check.h"
#include "vx/check/trial.h"

namespace tim::vx::check {

/// C++14 against the SDK, as Fault::program.  Empty where `outcome` has no
/// launches.
std::string ProgramText(const CheckedOperator& checked,
                        const Prepared& prepared, const Outcome& outcome,
                        const Target& target);

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_PROGRAM_TEXT_H_
