// Work in a process of its own, so that a crash of it is no crash of this one.
#ifndef TIM_TOOLS_TIMCL_FORKED_PROCESS_H_
#define TIM_TOOLS_TIMCL_FORKED_PROCESS_H_

#include <functional>
#include <string>

#include "base/status.h"

namespace tim::tool {

/// How a process ended.
struct ProcessEnd {
  int exit_status = 0;
  int signal = 0;  ///< That ended it; 0: it has the exit status.

  /// "signal 11 (Segmentation fault)", "exit status 3".
  std::string ToString() const;
};

/// Hands a line without "\n" over to the process that has forked.
using SendLine = std::function<void(const std::string& line)>;

/// Forks, calls `work` in the new process and then std::exit(0), and gives each
/// line that it sends to `receive`, until that is false or there are no more.
/// For a process that has no threads and has not used OpenCL.
/// kFailedPrecondition where none can be made.
Result<ProcessEnd> RunForked(
    const std::function<void(const SendLine& send)>& work,
    const std::function<bool(const std::string& line)>& receive);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_FORKED_PROCESS_H_
