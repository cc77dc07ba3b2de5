// Numbers in messages of operators.
#ifndef TIM_CUSTOM_OPS_NUMBER_TEXT_H_
#define TIM_CUSTOM_OPS_NUMBER_TEXT_H_

#include <string>

namespace tim {
namespace custom_ops {

/// As std::to_string() in the locale "C": six decimals behind a point, whatever
/// the process's locale is.
std::string NumberText(float value);

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_NUMBER_TEXT_H_
