// Operators of two inputs on 8-bit codes, of which there are 65,536 pairs.
#ifndef TIM_OPS_ELEMENTWISE_BYTE_PAIRS_H_
#define TIM_OPS_ELEMENTWISE_BYTE_PAIRS_H_

#include <optional>

#include "kernels/requantize.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/linear_codes.h"

namespace tim::ops {

/// By which operations ops/elementwise/elementwise.cl stores what eval does.
struct BytePairs {
  int corrections = 0;  ///< The option CORRECTIONS of kernels/bytes/codes.clh.
  std::optional<LinearCodes> linear;  ///< Fewer operations, the same codes.
};

/// Tried with every pair of codes; none where these operations give others, or
/// where an operand is not of 8-bit integers.
std::optional<BytePairs> BytePairsOf(const BinaryProblem& problem,
                                     const ir::TensorDesc& y,
                                     kernels::RequantizePolicy policy);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTWISE_BYTE_PAIRS_H_
