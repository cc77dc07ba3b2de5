// A custom operator of two kernels, with scratch and local memory.
#ifndef TIM_TESTS_SUPPORT_VX_SEVERAL_KERNELS_H_
#define TIM_TESTS_SUPPORT_VX_SEVERAL_KERNELS_H_

#include <memory>
#include <vector>

#include "tests/support/vx/test_op.h"

namespace tim::testing {

/// y[0] = the sum of the elements of x: work-groups of 64 sum into scratch 0,
/// with the local memory of a wave, then one item sums that.
OpPlan SumPlan();

/// x -> SumPlan -> y.
struct SumGraph {
  explicit SumGraph(uint32_t count);
  std::vector<float> Run(const std::vector<float>& values);

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> x;
  std::shared_ptr<vx::Tensor> y;
  std::shared_ptr<TestOp> op;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_SEVERAL_KERNELS_H_
