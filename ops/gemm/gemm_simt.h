// Float32 matrix products by ops/gemm/gemm_simt.cl, for Matmul and
// FullyConnected.
#ifndef TIM_OPS_GEMM_GEMM_SIMT_H_
#define TIM_OPS_GEMM_GEMM_SIMT_H_

#include "ir/kernel_def.h"
#include "ops/gemm/gemm_problem.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {

/// Ok, or why ops/gemm/gemm_simt.cl cannot do it: the device or the types.
Status CheckGemmSimt(const ir::KernelNode& node, const ir::DeviceInfo& device);

double GemmSimtCost(const GemmProblem& problem, const ir::DeviceInfo& device);

Result<ir::Lowering> LowerGemmSimt(const ir::KernelNode& node,
                                   const GemmProblem& problem,
                                   const Epilogue& epilogue,
                                   const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_GEMM_SIMT_H_
