#include "tim/vx/half.h"

#include "base/half.h"

namespace tim::vx {

Half::Half(float value) : bits_(FloatToHalf(value)) {}
Half::operator float() const { return HalfToFloat(bits_); }

}  // namespace tim::vx
