// Names of what operators with graphs inside are made of.
#include "ir/control.h"

namespace tim::ir {

const char* ToString(ControlKind kind) {
  return kind == ControlKind::kIf ? "if" : "while";
}

std::vector<std::string_view> GraphNames(ControlKind kind) {
  if (kind == ControlKind::kIf) return {kThenGraph, kElseGraph};
  return {kConditionGraph, kBodyGraph};
}

}  // namespace tim::ir
