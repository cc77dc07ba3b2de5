// Outputs of a graph beside those of another engine, or of arrays in files.
#ifndef TIM_TOOLS_TIMCL_AGAINST_H_
#define TIM_TOOLS_TIMCL_AGAINST_H_

#include "base/status.h"
#include "tools/timcl/arguments.h"
#include "tools/timcl/commands.h"

namespace tim::tool {

/// `timcl compare --against`: see docs/timcl.md.
Result<ExitCode> CompareAgainst(const Arguments& arguments);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_AGAINST_H_
