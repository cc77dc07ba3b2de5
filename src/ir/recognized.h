// Decisions about operators that stand for several nodes.
#ifndef TIM_IR_RECOGNIZED_H_
#define TIM_IR_RECOGNIZED_H_

#include <string_view>

#include "ir/plan.h"

namespace tim::ir {

/// Begins Decision::chosen of such a decision; the operator's name follows.
inline constexpr std::string_view kRecognized = "recognized: ";

/// True for a decision that names an operator and not a kernel.  Its node is
/// also that of the decision which names the kernel.
inline bool IsRecognized(const Decision& decision) {
  return decision.chosen.starts_with(kRecognized);
}

}  // namespace tim::ir

#endif  // TIM_IR_RECOGNIZED_H_
