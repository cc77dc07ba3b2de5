#include "ir/layout.h"

#include "base/str_cat.h"

namespace tim::ir {

std::string Layout::ToString() const {
  switch (kind) {
    case LayoutKind::kAny:
      return "any";
    case LayoutKind::kDense:
      return "dense";
    case LayoutKind::kStrided:
      return StrCat("strided(", StrJoin(strides, ", "), ")");
    case LayoutKind::kBlocked:
      return StrCat("blocked(axis ", axis, ", ", block, ")");
    case LayoutKind::kOpaque:
      return StrCat("opaque(", id, ")");
  }
  return "?";
}

}  // namespace tim::ir
