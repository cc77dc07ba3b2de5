// Lifetimes of ranges of memory: which there are, from which step to which.
#ifndef TIM_COMPILER_MEMORY_LIFETIMES_H_
#define TIM_COMPILER_MEMORY_LIFETIMES_H_

#include "compiler/memory/sharing.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Adds an allocation for every value that a step makes and that has no memory
/// yet, and for the scratch of every node: Module::allocations without offsets,
/// scratches, and storages of roots.  An output takes the allocation of an
/// input that its node is the last to read, where the kernel allows it.
Status AddAllocations(Module& module, const Sharing& sharing);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_LIFETIMES_H_
