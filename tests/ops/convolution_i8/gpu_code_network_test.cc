// A network of 8-bit codes with the kernels for GPUs, on whatever device there
// is.
#include <gtest/gtest.h>

#include "ir/plan.h"
#include "tests/ops/convolution_i8/code_network.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

TIM_FORCE_KERNELS("gpu");

void Check(CodeWeights weights) {
  const auto device = ContextOn("opencl");
  const auto host = HostContext();
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  CodeNetwork network(*device, weights);
  ASSERT_TRUE(network.graph().Compile()) << network.graph().ErrorMessage();
  const ir::Plan& plan = *vx::CompiledPlan(network.graph());
  EXPECT_EQ(CountSource(plan, "ops/convolution_i8/conv2d_simt_i8.cl"), 5)
      << ir::Dump(plan);
  EXPECT_EQ(CountSource(plan, "ops/convolution_i8/conv2d_depthwise_simt_i8.cl"),
            1)
      << ir::Dump(plan);
  EXPECT_EQ(CountSource(plan, "ops/gemm/gemm_i8_simt.cl"), 1) << ir::Dump(plan);
  CodeNetwork expected(*host, weights);
  ASSERT_TRUE(expected.graph().Compile()) << expected.graph().ErrorMessage();
  EXPECT_EQ(network.Run(), expected.Run());
}

TEST(GpuCodeNetwork, OfAsymmetricWeights) { Check(CodeWeights::kAsymmetric); }

TEST(GpuCodeNetwork, OfWeightsPerChannel) { Check(CodeWeights::kPerChannel); }

}  // namespace
}  // namespace tim::testing
