// Checks of options' texts: each returns what is wrong, or an empty text.
#ifndef TOOLS_TIMCL_OPTION_CHECKS_H_
#define TOOLS_TIMCL_OPTION_CHECKS_H_

#include <string>

namespace tim::tool {

/// Whether the text names devices, which need not exist.
std::string CheckDevice(const std::string& text);

/// Whether the text is a finite number, 0 or greater.
std::string CheckTolerance(const std::string& text);

}  // namespace tim::tool

#endif  // TOOLS_TIMCL_OPTION_CHECKS_H_
