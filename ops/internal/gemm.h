// Float32 matrix products by ops/gemm.cl, for Matmul and FullyConnected.
#ifndef TIM_OPS_INTERNAL_GEMM_H_
#define TIM_OPS_INTERNAL_GEMM_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/internal/epilogue.h"

namespace tim::ops {

/// Where element (item, k) of a factor is: batch * batch_step + item *
/// item_step + k * depth_step.  One of the two steps is 1.
struct GemmFactor {
  int input = 0;  ///< Of the node.
  int64_t items = 1;
  int64_t item_step = 1;
  int64_t depth_step = 1;
  int64_t batches = 1;  ///< 1: all batches share it.
  int64_t batch_step = 0;
};

/// c(n, m) = sum over k of a(m, k) * b(n, k) + bias[n], for each batch; c is
/// dense [n, m, batch].
struct GemmProblem {
  GemmFactor a;
  GemmFactor b;
  int64_t depth = 1;
  int64_t batches = 1;
  int bias = -1;  ///< Input of the node; -1: none.
};

/// Ok, or why ops/gemm.cl cannot do it: types, a device that is no CPU, sizes.
Status CheckGemm(const ir::KernelNode& node, const GemmProblem& problem,
                 const ir::DeviceInfo& device);

double GemmCost(const GemmProblem& problem, const ir::KernelNode& node,
                const ir::DeviceInfo& device);

/// Constant factors are packed at Compile, others by a launch of their own.
Result<ir::Lowering> LowerGemm(const ir::KernelNode& node,
                               const GemmProblem& problem,
                               const Epilogue& epilogue,
                               const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_INTERNAL_GEMM_H_
