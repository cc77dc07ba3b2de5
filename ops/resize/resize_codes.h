// Bilinear interpolation of 8-bit codes: by which operations the results are
// those of eval.
#ifndef TIM_OPS_RESIZE_RESIZE_CODES_H_
#define TIM_OPS_RESIZE_RESIZE_CODES_H_

#include <optional>

#include "ir/tensor_desc.h"
#include "ops/resize/blend.h"
#include "ops/resize/resize_sources.h"

namespace tim::ops {

/// Options of ops/resize/resize_codes.cl.
struct CodeBlends {
  /// Every product and sum is exact in float32, whatever the order.
  bool exact = false;
  /// Of exact blends: blend * multiplier + zero rounded once gives the codes
  /// that two roundings give, tried with every blend.
  bool fused = false;
};

/// None where an operand is not of 8-bit integers, or is quantized such that
/// the kernel could not count in its units.
std::optional<CodeBlends> CodeBlendsOf(const ir::TensorDesc& input,
                                       const ir::TensorDesc& output,
                                       const ResizeMap& map);

}  // namespace tim::ops

#endif  // TIM_OPS_RESIZE_RESIZE_CODES_H_
