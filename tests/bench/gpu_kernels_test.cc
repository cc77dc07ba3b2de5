// Networks with the kernels for GPUs, on whatever device there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/models/catalog.h"
#include "bench/networks/graph_of_network.h"
#include "bench/networks/values.h"
#include "ir/plan.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

TIM_FORCE_KERNELS("gpu");

std::vector<float> Output(const NetworkGraph& built, uint64_t stream) {
  std::vector<float> input(testing::Read(built.results.front()).size());
  FillValues(stream, 1.0f, input);
  testing::Write(built.results.front(), input);
  EXPECT_TRUE(built.graph->Run()) << vx::LastError();
  return testing::Read(built.results.back());
}

// Within 1e-4 of the greatest value, as the networks' sums are long.
void CheckNetwork(const Network& network, const NetworkGraph& gpu) {
  const NetworkGraph host = GraphOfNetwork(*testing::HostContext(), network);
  ASSERT_TRUE(gpu.graph->Compile()) << vx::LastError();
  for (const uint64_t stream : {1000, 1001}) {
    const auto expected = Output(host, stream);
    const auto found = Output(gpu, stream);
    ASSERT_EQ(found.size(), expected.size());
    float greatest = 0;
    for (const float value : expected) {
      greatest = std::max(greatest, std::fabs(value));
    }
    EXPECT_GT(greatest, 0.1f) << "the values vanish";
    EXPECT_THAT(found, Pointwise(FloatNear(1e-4f * greatest), expected));
  }
}

// What the plan of a compiled graph launches, and the products of the library.
std::set<std::string> Actions(const vx::Graph& graph) {
  std::set<std::string> out;
  for (const ir::Step& step : vx::CompiledPlan(graph)->steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    if (launch != nullptr) out.insert(launch->function);
    if (std::holds_alternative<ir::Gemm>(step.action))
      out.insert("gemm library");
  }
  return out;
}

class GpuKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    context_ = testing::ContextOn("opencl");
    if (context_ == nullptr) GTEST_SKIP() << vx::LastError();
  }

  std::shared_ptr<vx::Context> context_;
};

TEST_F(GpuKernels, RunResidualNetworks) {
  const Network network = Resnet50(32);
  const NetworkGraph built = GraphOfNetwork(*context_, network);
  CheckNetwork(network, built);
  const auto actions = Actions(*built.graph);
  EXPECT_THAT(actions, Contains("conv2d_simt"));
  EXPECT_THAT(actions, Not(Contains("conv2d_nchw16c")));
  EXPECT_THAT(actions, Not(Contains("relu")));  // fused
  EXPECT_THAT(ir::Dump(*vx::CompiledPlan(*built.graph)),
              HasSubstr("opencl:conv2d_nchw16c: for CPU devices; this one "
                        "takes kernels of class gpu"));
}

TEST_F(GpuKernels, RunDepthwiseNetworks) {
  const Network network = MobilenetV2(32);
  const NetworkGraph built = GraphOfNetwork(*context_, network);
  CheckNetwork(network, built);
  EXPECT_THAT(Actions(*built.graph), AllOf(Contains("conv2d_simt"),
                                           Contains("conv2d_depthwise_simt")));
}

TEST_F(GpuKernels, RunBranchesThatJoin) {
  const Network network = Squeezenet11(32);
  CheckNetwork(network, GraphOfNetwork(*context_, network));
}

TEST_F(GpuKernels, RunPerceptrons) {
  const Network network = Perceptron();
  CheckNetwork(network, GraphOfNetwork(*context_, network));
}

TEST_F(GpuKernels, LeaveLargeProductsToTheLibrary) {
  constexpr uint32_t kSize = 512;
  const auto graph = context_->CreateGraph();
  const auto tensor = [&](vx::TensorAttribute attribute) {
    return graph->CreateTensor(
        vx::TensorSpec(vx::DataType::FLOAT32, {kSize, kSize}, attribute));
  };
  const auto a = tensor(vx::INPUT);
  const auto b = tensor(vx::INPUT);
  const auto c = tensor(vx::OUTPUT);
  graph->CreateOperation<vx::ops::Matmul>()->BindInputs({a, b}).BindOutput(c);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_THAT(Actions(*graph), Contains("gemm library"));
  std::vector<float> identity(kSize * kSize);
  for (uint32_t i = 0; i < kSize; ++i) identity[i * (kSize + 1)] = 2.0f;
  std::vector<float> values(kSize * kSize);
  FillValues(7, 1.0f, values);
  testing::Write(a, values);
  testing::Write(b, identity);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    for (float& value : values) value *= 2;
    EXPECT_EQ(testing::Read(c), values);
    testing::Write(a, values);
  }
}

}  // namespace
}  // namespace tim::bench
