// Numbers as C++ writes them.
#ifndef TIM_BASE_CPP_LITERALS_H_
#define TIM_BASE_CPP_LITERALS_H_

#include <string>

namespace tim {

/// "1.5f", "-0.0f"; NaN and the infinities as names of <limits>.
std::string FloatLiteral(float value);
/// "1.5", "-0.0"; NaN and the infinities as names of <limits>.
std::string DoubleLiteral(double value);

}  // namespace tim

#endif  // TIM_BASE_CPP_LITERALS_H_
