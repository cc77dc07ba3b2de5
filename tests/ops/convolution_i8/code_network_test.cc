// A network of 8-bit codes is made by the kernels for them, in blocks from end
// to end, with the codes of eval.
#include "tests/ops/convolution_i8/code_network.h"

#include <gtest/gtest.h>

#include "ir/plan.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

constexpr char kConv[] = "ops/convolution_i8/conv2d_nchw16c_i8.cl";
constexpr char kDepthwise[] =
    "ops/convolution_i8/conv2d_depthwise_nchw16c_i8.cl";
constexpr char kReorder[] = "ops/movement/reorder.cl";

void Check(CodeWeights weights) {
  const auto device = ContextOn("opencl");
  const auto host = HostContext();
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  CodeNetwork network(*device, weights);
  ASSERT_TRUE(network.graph().Compile()) << network.graph().ErrorMessage();
  const ir::Plan& plan = *vx::CompiledPlan(network.graph());
  EXPECT_EQ(CountSource(plan, kConv), 5) << ir::Dump(plan);
  const bool quads =
      weights == CodeWeights::kPerChannel && plan.devices[1].has_vnni;
  EXPECT_EQ(CountSource(plan, kDepthwise), 1) << ir::Dump(plan);
  EXPECT_EQ(CountSource(plan, kDepthwise, "-DQUADS="), quads ? 1 : 0)
      << ir::Dump(plan);
  // A convolution of single pixels gives what FullyConnected reads.
  EXPECT_LE(CountSource(plan, kReorder), 1) << ir::Dump(plan);
  EXPECT_GE(CountSource(plan, "ops/gemm/gemm_i8.cl"), 1) << ir::Dump(plan);
  if (plan.devices[1].chains) {
    ASSERT_EQ(plan.chains.size(), 1u) << ir::Dump(plan);
    EXPECT_EQ(plan.chains[0].count, static_cast<int>(plan.steps.size()));
  }
  CodeNetwork expected(*host, weights);
  ASSERT_TRUE(expected.graph().Compile()) << expected.graph().ErrorMessage();
  EXPECT_EQ(network.Run(), expected.Run());
}

TEST(CodeNetwork, OfAsymmetricWeights) { Check(CodeWeights::kAsymmetric); }

TEST(CodeNetwork, OfWeightsPerChannel) { Check(CodeWeights::kPerChannel); }

}  // namespace
}  // namespace tim::testing
