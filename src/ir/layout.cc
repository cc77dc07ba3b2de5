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
    case LayoutKind::kStrided: {
      std::string text = "strided(";
      for (size_t i = 0; i < strides.size(); ++i) {
        text += StrCat(i == 0 ? "" : ", ", strides[i]);
      }
      return text + ")";
    }
  }
  return "?";
}

}  // namespace tim::ir
