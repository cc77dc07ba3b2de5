#include "ir/layout.h"

#include "base/str_cat.h"

namespace tim::ir {

std::string Layout::ToString() const {
  switch (kind) {
    case LayoutKind::kAny:
      return "any";
    case LayoutKind::kDense:
      return "dense";
    case LayoutKind::kBlocked:
      return StrCat("blocked(axis ", axis, ", ", block, ")");
  }
  return "?";
}

}  // namespace tim::ir
