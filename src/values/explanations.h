// Texts of this thread that Explain() gives.
#ifndef TIM_VALUES_EXPLANATIONS_H_
#define TIM_VALUES_EXPLANATIONS_H_

#include <string>

namespace tim::values::internal {

/// Notes a call whose steps the host did; equal texts are kept once.
void ExplainHostSteps(const std::string& text);
/// Notes a flush.
void ExplainFlush(std::string text);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_EXPLANATIONS_H_
