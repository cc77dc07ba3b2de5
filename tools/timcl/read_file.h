// Whole files, as command lines name them.
#ifndef TIM_TOOLS_TIMCL_READ_FILE_H_
#define TIM_TOOLS_TIMCL_READ_FILE_H_

#include <string>

#include "base/status.h"

namespace tim::tool {

/// Bytes of the file.  kNotFound where it cannot be read; the message names it.
Result<std::string> ReadFile(const std::string& path);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_READ_FILE_H_
