// Sums and differences of 8-bit codes without their real values.
#ifndef TIM_OPS_ELEMENTWISE_LINEAR_CODES_H_
#define TIM_OPS_ELEMENTWISE_LINEAR_CODES_H_

#include <array>
#include <optional>

#include "ir/tensor_desc.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {

/// The code of y is clamp(rint(fma(a, code of a, fma(b, code of b, start)))).
struct LinearCodes {
  float a = 0;
  float b = 0;
  float start = 0;
};

/// Numbers with which this is what eval gives, tried with every pair of codes;
/// none where no numbers were found, as for an operator that is not linear.
/// All operands are of 8-bit integers, quantized by tensor or not at all.
std::optional<LinearCodes> LinearCodesOf(const BinaryProblem& problem,
                                         const ir::TensorDesc& y);

/// The real values of the 256 bytes as elements of `desc`.
std::array<float, 256> RealsOfBytes(ir::TensorDesc desc);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTWISE_LINEAR_CODES_H_
