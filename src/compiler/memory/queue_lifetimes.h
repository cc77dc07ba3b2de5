// Lifetimes of memory where steps of several streams run beside each other.
#ifndef TIM_COMPILER_MEMORY_QUEUE_LIFETIMES_H_
#define TIM_COMPILER_MEMORY_QUEUE_LIFETIMES_H_

#include "compiler/memory/sharing.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Makes allocations of devices with several streams live until every later
/// step follows, by data or in its queue, all that use them: memory is then
/// used again without a wait.  After AddAllocations().
void LiveUntilOrdered(Module& module, const Sharing& sharing);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_QUEUE_LIFETIMES_H_
