// The time that a binary graph takes to compile where nobody has seen it.
#ifndef TIM_TOOLS_TIMCL_COMPILE_TIMES_H_
#define TIM_TOOLS_TIMCL_COMPILE_TIMES_H_

#include "base/status.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

/// Milliseconds from the open file until it can run, in a process of its own.
struct CompileTimes {
  double cold_ms = 0;    ///< Neither library nor driver has built anything.
  double cached_ms = 0;  ///< With the programs that the first one kept.
};

/// Starts this program twice, with a cache folder of its own, which drivers are
/// told of, too: PoCL, NVIDIA's, Intel's and Mesa's.
Result<CompileTimes> MeasureCompile(const Arguments& arguments);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_COMPILE_TIMES_H_
