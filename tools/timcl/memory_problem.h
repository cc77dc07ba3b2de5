// Memory problems as files of CSV, in the form of MiniMalloc:
// "id,lower,upper,size" and, of layouts, ",offset"; `upper` is exclusive.
#ifndef TIM_TOOLS_TIMCL_MEMORY_PROBLEM_H_
#define TIM_TOOLS_TIMCL_MEMORY_PROBLEM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/memory/memory_planner.h"
#include "ir/plan.h"

namespace tim::tool {

struct NamedProblem {
  std::vector<std::string> ids;  ///< One per range.
  compiler::MemoryProblem problem;
  /// One per range where the file has them, else none.
  std::vector<int64_t> offsets;
};

/// The values of the plan's largest arena, with their offsets there.
NamedProblem ProblemOf(const ir::Plan& plan);

/// kInvalidArgument names the line and what is wrong with it.
Result<NamedProblem> ReadProblem(std::string_view csv);
/// With offsets where there are any.
std::string WriteProblem(const NamedProblem& problem);

/// Whether ranges that live at the same time lie apart, and below `capacity`
/// where that is not negative; kFailedPrecondition names two that do not.
Status CheckOffsets(const NamedProblem& problem, int64_t capacity);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_MEMORY_PROBLEM_H_
