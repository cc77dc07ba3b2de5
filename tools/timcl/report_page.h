// The page of `timcl report`.
#ifndef TIM_TOOLS_TIMCL_REPORT_PAGE_H_
#define TIM_TOOLS_TIMCL_REPORT_PAGE_H_

#include <string>

#include "tools/timcl/terminal.h"

namespace tim::tool {

/// HTML with all that it needs: style, script and `data`, whose texts cannot
/// end the element that they stand in.  \param data of ReportData().
std::string ReportPage(const Json& data);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_REPORT_PAGE_H_
