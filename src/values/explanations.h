// What Explain() tells.
#ifndef TIM_VALUES_EXPLANATIONS_H_
#define TIM_VALUES_EXPLANATIONS_H_

#include <string>

namespace tim::values::internal {

/// A call of this thread whose steps the host did; told once per text.
void ExplainHostSteps(const std::string& text);
/// A flush of this thread.
void ExplainFlush(std::string text);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_EXPLANATIONS_H_
