// What the providers of matrix products of 8-bit codes share.
#ifndef TIM_OPS_GEMM_GEMM_CODES_H_
#define TIM_OPS_GEMM_GEMM_CODES_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/elements/byte_sum.h"
#include "ops/gemm/gemm_problem.h"

namespace tim::ops {

/// Ok, or why the product cannot be made with exact sums of 32 bits.
Status CheckGemmCodes(const ir::KernelNode& node, const GemmProblem& problem);

/// Whether the factor is known and all batches share it, so that it may be
/// packed at Compile.
bool IsConstantFactor(const ir::KernelNode& node, const GemmFactor& factor);

/// Where the weights, b, are.
ByteWeights GemmWeightsOf(const GemmProblem& problem);

/// zp of weights that are not constant: their zero point, less the middle of
/// the codes where these are unsigned.
int32_t VariableWeightZero(const ir::TensorDesc& weights);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_GEMM_CODES_H_
