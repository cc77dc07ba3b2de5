// The subcommands of timcl.
#ifndef TIM_TOOLS_TIMCL_COMMANDS_H_
#define TIM_TOOLS_TIMCL_COMMANDS_H_

#include "base/status.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

/// Exit codes of the process; docs/timcl.md lists them for users.
enum ExitCode : int {
  kDone = 0,
  kDiffers = 1,  ///< What was compared differs, what was checked has faults.
  kUsage = 2,    ///< A wrong option, name or input: kInvalidArgument.
  kNoFile = 3,   ///< A file that cannot be used: kNotFound.
  kFailed = 4,   ///< Devices, Compile or a run failed: all others.
};

/// Each prints to stdout and returns what the process returns; a failure is
/// printed by the caller, who finds its exit code by its status code.
Result<ExitCode> ShowDevices(const Arguments& arguments);
Result<ExitCode> RunGraph(const Arguments& arguments);
Result<ExitCode> CompileModel(const Arguments& arguments);
Result<ExitCode> ImportModelFile(const Arguments& arguments);
Result<ExitCode> CompareLayers(const Arguments& arguments);
Result<ExitCode> ExplainNodes(const Arguments& arguments);
Result<ExitCode> ShowMemory(const Arguments& arguments);
Result<ExitCode> SolveMemory(const Arguments& arguments);
Result<ExitCode> WriteReport(const Arguments& arguments);
Result<ExitCode> CheckLibrary(const Arguments& arguments);
Result<ExitCode> CheckPlugin(const Arguments& arguments);
Result<ExitCode> RunGraphFile(const Arguments& arguments);
Result<ExitCode> ShowCache(const Arguments& arguments);
Result<ExitCode> ClearCache(const Arguments& arguments);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_COMMANDS_H_
