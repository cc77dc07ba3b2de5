// Lines on stdout about what the front does and refuses, where they are wanted.
#ifndef TIM_GRAPH_API_VERBOSE_H_
#define TIM_GRAPH_API_VERBOSE_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Kinds of verbose lines.
enum VerboseFlag : unsigned {
  kVerboseError = 1,     ///< Failures of devices, of memory and of the library.
  kVerboseCheck = 2,     ///< Reasons why arguments and graphs were refused.
  kVerboseDispatch = 4,  ///< Reasons why ops and shapes are not supported.
  kVerboseCompile = 8,
  kVerboseExecute = 16,
};

/// VerboseFlags: SetVerbose()'s, else TIMCL_GRAPH_VERBOSE's.  Any thread.
unsigned Verbose();
/// Flags of the level: 0 none, 1 execute, 2 compile, too.  kInvalidArgument for
/// others.
Status SetVerbose(int level);

}  // namespace tim::graph

namespace tim::graph::verbose {

inline bool Wants(VerboseFlag flag) { return (Verbose() & flag) != 0; }

/// "timcl_graph,dispatch,<reason>": why the library, or a device, does not take
/// what it was given.  Nothing where such lines are not wanted.
void Dispatch(std::string_view reason);

/// The line of a call that failed: `check`, `dispatch` or `error`, whichever
/// its code belongs to, where such lines are wanted.
void Refusal(tim_graph_status_t code, std::string_view reason);

/// `text` as one field of a line: commas, and what would end the line, are
/// replaced.
std::string FieldOf(std::string_view text);

/// "timcl_graph,<rest>" and the end of the line, on stdout.  Lines of threads
/// do not mix.
void PrintLine(std::string_view rest);

}  // namespace tim::graph::verbose

#endif  // TIM_GRAPH_API_VERBOSE_H_
