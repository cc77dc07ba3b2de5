// Memory that host references allocate for themselves while they run.
#ifndef TIM_COMPILER_MEMORY_EVAL_SCRATCH_H_
#define TIM_COMPILER_MEMORY_EVAL_SCRATCH_H_

#include <cstdint>

#include "compiler/module.h"

namespace tim::compiler {

/// Most bytes that the eval steps of the module hold beside their operands at a
/// time.  An operator allocates what its memory_estimate says, a composite all
/// values of its body too; a device runs one step after the other, several
/// devices side by side.  After choose; shapes are static.
Result<int64_t> EvalScratchBytes(const Module& module);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_EVAL_SCRATCH_H_
