// The formula of an operator that works element by element, as other operators
// need it: a kernel that makes the elements may apply it before it stores them.
#ifndef TIM_IR_POINTWISE_H_
#define TIM_IR_POINTWISE_H_

#include <cstdint>
#include <limits>

#include "ir/attribute.h"

namespace tim::ir {

/// What a formula of one input takes beside it.
struct PointwiseParameters {
  float a = 0;
  float b = 0;
};

struct Limits {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// y = f(x), or y = f(x, z) where the arity is 2.
struct Pointwise {
  int arity = 1;
  /// OpenCL macro MACRO(T, x, a, b), or MACRO(T, x, z), for T = float and
  /// float16; where there is a formula on integers, MACRO_PLAIN with the same
  /// parameters for T = long and long16.
  const char* macro = nullptr;
  /// Embedded text that defines them, "kernels/formulas/simple_functions.clh";
  /// its guard begins with TIM_ONCE_, so that it does not depend on options.
  const char* header = nullptr;

  /// On real values; the same bits as the macro.
  float (*unary)(float x, PointwiseParameters parameters) = nullptr;
  float (*binary)(float x, float z) = nullptr;
  /// On integers without quantization.  Null: through real values.
  int64_t (*unary_integer)(int64_t x, PointwiseParameters parameters) = nullptr;
  /// Beyond 64 bits it wraps or saturates.
  int64_t (*binary_integer)(int64_t x, int64_t z, bool wrap) = nullptr;

  /// From the operator's attributes, completed.  Null: it has none.
  PointwiseParameters (*parameters)(const AttributeMap&) = nullptr;
  /// y = x, or the limit beyond which x lies; NaN stays.  Null: it is no such
  /// function.
  Limits (*limits)(PointwiseParameters parameters) = nullptr;
  /// y = x + z, which kernels of sums have anyway.
  bool is_sum = false;

  PointwiseParameters ParametersOf(const AttributeMap& attributes) const {
    return parameters ? parameters(attributes) : PointwiseParameters();
  }
};

}  // namespace tim::ir

#endif  // TIM_IR_POINTWISE_H_
