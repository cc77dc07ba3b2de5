// Reach of kernels of remote devices.
#ifndef TIM_COMPILER_KERNEL_REACH_H_
#define TIM_COMPILER_KERNEL_REACH_H_

#include "base/status.h"
#include "ir/plan.h"

namespace tim::compiler {

/// kOutOfMemory where an operand of a launch on a remote device ends beyond
/// what kernels count in 32 bits (ir::IndicesFit).  On other devices such an
/// operand is a sub-buffer, which does not reach kernels of remote ones.
Status CheckKernelReach(const ir::Plan& plan);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_KERNEL_REACH_H_
