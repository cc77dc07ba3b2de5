// Float32 matrix products by ops/gemm/gemm.cl, for Matmul and FullyConnected.
#ifndef TIM_OPS_GEMM_GEMM_H_
#define TIM_OPS_GEMM_GEMM_H_

#include "ir/kernel_def.h"
#include "ops/gemm/gemm_problem.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {

/// Ok, or why ops/gemm/gemm.cl cannot do it: types, a device that is no CPU,
/// sizes.
Status CheckGemm(const ir::KernelNode& node, const GemmProblem& problem,
                 const ir::DeviceInfo& device);

double GemmCost(const GemmProblem& problem, const ir::KernelNode& node,
                const ir::DeviceInfo& device);

/// Constant factors are packed at Compile, others by a launch of their own;
/// rows of a that are contiguous are read where they are.
Result<ir::Lowering> LowerGemm(const ir::KernelNode& node,
                               const GemmProblem& problem,
                               const Epilogue& epilogue,
                               const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_GEMM_H_
