// Offsets for ranges of memory that live for ranges of steps.
#ifndef TIM_COMPILER_MEMORY_MEMORY_PLANNER_H_
#define TIM_COMPILER_MEMORY_MEMORY_PLANNER_H_

#include <cstdint>
#include <vector>

namespace tim::compiler {

struct MemoryRange {
  int64_t bytes = 0;
  int first_step = 0;
  int last_step = 0;  ///< Inclusive.
};

struct MemoryLayout {
  std::vector<int64_t> offsets;  ///< One per range.
  int64_t peak = 0;
};

/// Most bytes live at one step, each range rounded up to `alignment`: no
/// layout can be smaller.
int64_t MemoryLowerBound(const std::vector<MemoryRange>& ranges,
                         int64_t alignment);

/// Ranges in falling order of size, each in the smallest gap.
MemoryLayout PlaceBySize(const std::vector<MemoryRange>& ranges,
                         int64_t alignment);
/// Ranges in the order of their first step, each in the smallest gap.
MemoryLayout PlaceByTime(const std::vector<MemoryRange>& ranges,
                         int64_t alignment);
/// The better of the strategies.
MemoryLayout PlaceBest(const std::vector<MemoryRange>& ranges,
                       int64_t alignment);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_MEMORY_PLANNER_H_
