// Other programs, started and waited for.
#ifndef TIM_TOOLS_TIMCL_CHILD_PROCESS_H_
#define TIM_TOOLS_TIMCL_CHILD_PROCESS_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace tim::tool {

/// Results that a program left.
struct ProcessResult {
  std::string output;    ///< All that it wrote to stdout.
  int exit_status = -1;  ///< -1: a signal ended it.
};

/// The variables of this process, "NAME=VALUE".
std::vector<std::string> Environment();

/// Starts `program`, a path or a name that PATH leads to, and waits for its
/// end; stderr is that of this process.
/// kNotFound where there is no such program, kFailedPrecondition where it
/// cannot be started.
/// \param words argv, with its name first.  \param variables its environment.
Result<ProcessResult> RunProgram(const std::string& program,
                                 std::vector<std::string> words,
                                 std::vector<std::string> variables);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_CHILD_PROCESS_H_
