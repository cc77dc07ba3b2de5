// The smallest layout of few ranges.
#ifndef TIM_COMPILER_MEMORY_EXACT_MEMORY_H_
#define TIM_COMPILER_MEMORY_EXACT_MEMORY_H_

#include "compiler/memory/memory_planner.h"

namespace tim::compiler {

/// A layout that is no larger than `start`, which is one of the problem.
/// \param placements tried in a section at most.
MemoryLayout PlaceExactly(const MemoryProblem& problem,
                          const MemoryLayout& start, int placements);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_EXACT_MEMORY_H_
