// A half-precision number.
#ifndef TIM_VX_HALF_H_
#define TIM_VX_HALF_H_

#include <cstdint>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

/// IEEE 754 binary16, 2 bytes: an element of a FLOAT16 tensor, and a scalar
/// parameter of custom operators.
class TIM_VX_API Half {
 public:
  Half() = default;
  /// Rounded to nearest, ties to even; beyond 65504 infinite.
  explicit Half(float value);
  static Half FromBits(uint16_t bits) {
    Half half;
    half.bits_ = bits;
    return half;
  }

  explicit operator float() const;
  uint16_t bits() const { return bits_; }

 private:
  uint16_t bits_ = 0;
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_HALF_H_
