// Custom operators of a shared library, checked in a process of their own.
#ifndef TIM_TOOLS_TIMCL_LIBRARY_CHECK_H_
#define TIM_TOOLS_TIMCL_LIBRARY_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

struct CheckedFault {
  std::string kind, device, operand, actual, expected, text, program;
  int64_t element = -1;
  std::string file;  ///< File of `program`, where it was written.
};

/// Findings of the library about an operator.
struct CheckedOperator {
  std::string name, mistake, text;
  uint32_t cases = 0;
  uint32_t local_cases = 0;
  std::vector<CheckedFault> faults;
};

/// Loads the library in a new process and checks what the arguments name.  An
/// operator that ends the process has that as its fault, and is the last one.
/// kNotFound where the file is no such library, kInvalidArgument where it has
/// no operator of the name, kFailedPrecondition where it ends the process while
/// no operator is checked.
Result<std::vector<CheckedOperator>> CheckOperators(const Arguments& arguments);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_LIBRARY_CHECK_H_
