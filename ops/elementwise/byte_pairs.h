// Operators of two inputs on 8-bit codes, of which there are 65,536 pairs.
#ifndef TIM_OPS_ELEMENTWISE_BYTE_PAIRS_H_
#define TIM_OPS_ELEMENTWISE_BYTE_PAIRS_H_

#include <cstdint>
#include <optional>

#include "kernels/requantize.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {

/// The option CORRECTIONS with which kernels/bytes/codes.clh stores what eval
/// does, tried with every pair of codes; none where it does not, or where an
/// operand is not of 8-bit integers.
std::optional<int> CorrectionsOfBytePairs(const BinaryProblem& problem,
                                          const ir::TensorDesc& y,
                                          kernels::RequantizePolicy policy);

/// The code of a real value, which may be infinite.
int64_t CodeOf(float real, const ir::TensorDesc& y);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTWISE_BYTE_PAIRS_H_
