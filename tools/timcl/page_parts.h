// The files of page/ and scripts/, embedded when the program is built.
#ifndef TIM_TOOLS_TIMCL_PAGE_PARTS_H_
#define TIM_TOOLS_TIMCL_PAGE_PARTS_H_

#include <span>

namespace tim::tool {

struct PagePart {
  const char* name;  ///< "page.html".
  const char* text;
};

/// In the order of their names.
std::span<const PagePart> PageParts();

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_PAGE_PARTS_H_
