// A matrix product that an operator is made of, whichever operator that is.
#ifndef TIM_OPS_GEMM_GEMM_PROBLEM_H_
#define TIM_OPS_GEMM_GEMM_PROBLEM_H_

#include <cstdint>

#include "ir/kernel_def.h"

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

/// Of both factors and c.
double GemmBytes(const GemmProblem& problem);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_GEMM_PROBLEM_H_
