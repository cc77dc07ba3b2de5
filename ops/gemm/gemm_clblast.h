// Float32 matrix products by the device's library, CLBlast, for Matmul and
// FullyConnected on GPUs.
#ifndef TIM_OPS_GEMM_GEMM_CLBLAST_H_
#define TIM_OPS_GEMM_GEMM_CLBLAST_H_

#include "ir/kernel_def.h"
#include "ops/gemm/gemm_problem.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {

/// Ok, or why not: the device, the types, or empty matrices.
Status CheckGemmClblast(const ir::KernelNode& node, const GemmProblem& problem,
                        const ir::DeviceInfo& device);

double GemmClblastCost(const ir::KernelNode& node, const GemmProblem& problem,
                       const ir::DeviceInfo& device);

/// The product, and a launch that adds and limits where something is to do.
Result<ir::Lowering> LowerGemmClblast(const ir::KernelNode& node,
                                      const GemmProblem& problem,
                                      const Epilogue& epilogue);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_GEMM_CLBLAST_H_
