// A matrix product that an operator is made of, whichever operator that is.
#ifndef TIM_OPS_GEMM_GEMM_PROBLEM_H_
#define TIM_OPS_GEMM_GEMM_PROBLEM_H_

#include <cstdint>
#include <string>

#include "ir/kernel_def.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// Where element (item, k) of a factor is: batch * batch_step + item *
/// item_step + k * depth_step.  One of the two steps is 1.  Product i reads
/// batch i / repeat % batches: axes of batches that a factor lacks are one in
/// front of those that it has, one behind them, or both.
struct GemmFactor {
  int input = 0;  ///< Of the node.
  int64_t items = 1;
  int64_t item_step = 1;
  int64_t depth_step = 1;
  int64_t batches = 1;  ///< Of its own, at most those of the product.
  int64_t batch_step = 0;
  int64_t repeat = 1;
};

/// c(n, m) = sum over k of a(m, k) * b(n, k) + bias[n], for each batch; c is
/// dense [n, m, batch].
struct GemmProblem {
  GemmFactor a;
  GemmFactor b;
  int64_t depth = 1;
  int64_t batches = 1;
  int bias = -1;  ///< Input of the node; -1: none.
  Epilogue epilogue = {};
};

/// The axis along which a factor has a step of 1, as simt_tile.clh names it.
const char* Along(const GemmFactor& factor);
/// The struct of ops/gemm/gemm_factor.clh.
Launch::Fields FactorFields(const GemmFactor& factor);

/// Of both factors and c.
double GemmBytes(const GemmProblem& problem);

}  // namespace tim::ops

#endif  // TIM_OPS_GEMM_GEMM_PROBLEM_H_
