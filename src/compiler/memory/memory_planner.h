// Offsets for ranges of memory that live for ranges of steps.
#ifndef TIM_COMPILER_MEMORY_MEMORY_PLANNER_H_
#define TIM_COMPILER_MEMORY_MEMORY_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tim::compiler {

struct MemoryRange {
  int64_t bytes = 0;
  int first_step = 0;
  int last_step = 0;  ///< Inclusive.
};

/// Ranges that need offsets, multiples of `alignment`, so that ranges in
/// conflict do not overlap.
struct MemoryProblem {
  std::vector<MemoryRange> ranges = {};
  int64_t alignment = 1;
  /// Rows of ranges.size() bits each: which ranges are in conflict, those that
  /// live at the same step among them.  Empty: only those are.
  std::vector<bool> conflicts = {};

  bool InConflict(size_t a, size_t b) const;
};

/// Ways to solve one.
enum class MemorySolver : uint8_t {
  kNone,    ///< Every range at an address of its own.
  kByTime,  ///< In the order of the first step, each in the smallest gap.
  kBySize,  ///< In falling order of size, each in the smallest gap.
  /// The best of eight: by size, life, their product, or first step, each in
  /// the smallest or the lowest gap (Huawei's SOMAS tries these orders).  Where
  /// none is at the bound, of these orders again, changed a few times: the
  /// range that ended highest comes first.
  kSomas,
  /// Branch and bound over placements on top of each other, of each section
  /// (ranges that no conflict links to others) of at most kMostExact ranges;
  /// kSomas of larger ones.
  kExact,
  kAuto,  ///< The first of by_time, by_size, somas and exact at the bound.
};
/// "none", "by_time", "by_size", "somas", "exact", "auto"
const char* ToString(MemorySolver solver);
std::optional<MemorySolver> MemorySolverOf(std::string_view name);
/// The names, for messages.
inline constexpr char kMemorySolverNames[] =
    "none, by_time, by_size, somas, exact or auto";

/// Ranges per section, and placements tried in one, of kExact.
inline constexpr size_t kMostExact = 24;
inline constexpr int kMostExactPlacements = 300'000;

struct MemoryLayout {
  std::vector<int64_t> offsets = {};  ///< One per range.
  int64_t peak = 0;
  MemorySolver solver = MemorySolver::kNone;  ///< That found it.
  bool proved = false;                        ///< No layout has a smaller peak.
};

/// Most bytes live at one step, each range rounded up to the alignment: no
/// layout can be smaller.
int64_t MemoryLowerBound(const MemoryProblem& problem);

/// Equal arguments give equal layouts.  Solvers but kNone and kByTime take
/// quadratic time, and are kByTime above some thousand ranges.
MemoryLayout Solve(const MemoryProblem& problem, MemorySolver solver);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_MEMORY_PLANNER_H_
