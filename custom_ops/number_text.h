// Numbers in messages of operators.
#ifndef TIM_CUSTOM_OPS_NUMBER_TEXT_H_
#define TIM_CUSTOM_OPS_NUMBER_TEXT_H_

#include <string>

namespace tim {
namespace custom_ops {

/// The shortest decimal number that reads back to `value`, with a point in
/// every locale.
std::string NumberText(float value);

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_NUMBER_TEXT_H_
