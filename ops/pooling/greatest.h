// The greatest of several elements, in `eval`: of equal ones the first, and of
// NaN and numbers the first NaN.  Kernels: ops/pooling/greatest.clh.
#ifndef TIM_OPS_POOLING_GREATEST_H_
#define TIM_OPS_POOLING_GREATEST_H_

#include <cstdint>

#include "kernels/elements.h"

namespace tim::ops {

/// Compares the elements of a tensor: codes where they are in the order of the
/// real values, else these.
class GreatestElement {
 public:
  explicit GreatestElement(const ir::ConstTensor& tensor)
      : reader_(tensor),
        codes_(ir::IsInteger(tensor.desc->type) &&
               !(tensor.desc->quantized() &&
                 tensor.desc->quantization.per_channel())) {}

  void Add(int64_t element) {
    if (codes_) {
      const int64_t code = reader_.Code(element);
      if (element_ >= 0 && code <= code_) return;
      code_ = code;
    } else {
      const float real = reader_.Real(element);
      const bool exceeds = real > real_ || (real != real && real_ == real_);
      if (element_ >= 0 && !exceeds) return;
      real_ = real;
    }
    element_ = element;
  }
  /// The greatest of those added since the last Take(), -1 of none.
  int64_t Take() {
    const int64_t element = element_;
    element_ = -1;
    return element;
  }

 private:
  kernels::ElementReader reader_;
  bool codes_;
  int64_t element_ = -1;
  int64_t code_ = 0;
  float real_ = 0;
};

}  // namespace tim::ops

#endif  // TIM_OPS_POOLING_GREATEST_H_
