// Operations with a device of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/devices/fake_context.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"
#include "tim/vx/placement.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Check 20.
TEST(Affinity, ReachesTheParts) {
  const FakeSet set({{.name = "a"}, {.name = "b"}});
  const auto graph = set.ContextWith()->CreateGraph();
  const auto input =
      graph->CreateTensor(Floats({4, 4}, vx::TensorAttribute::INPUT));
  const auto middle =
      graph->CreateTensor(Floats({4, 4}, vx::TensorAttribute::TRANSIENT));
  const auto output =
      graph->CreateTensor(Floats({4, 4}, vx::TensorAttribute::OUTPUT));
  const auto sum = graph->CreateOperation<vx::ops::AddN>(3);
  (*sum).BindInputs({input, input, input}).BindOutput(middle);
  const auto last = graph->CreateOperation<vx::ops::Tanh>();
  (*last).BindInput(middle).BindOutput(output);
  ASSERT_TRUE(vx::SetAffinity(*sum, "fake:1"));
  ASSERT_TRUE(vx::SetAffinity(*last, "fake:0"));
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  const ir::Partition& partition = PartitionOf(*graph);
  EXPECT_GT(partition.nodes.size(), 1u);
  for (const ir::PartitionNode& node : partition.nodes) {
    const bool is_last = node.name == "Tanh#2";
    EXPECT_EQ(partition.parts[node.part].device, is_last ? 1 : 2) << node.name;
  }

  ASSERT_TRUE(vx::SetAffinity(*sum, ""));
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_THAT(DevicesOf(*graph), ElementsAre(1));
}

TEST(Affinity, UnknownAndImpossibleOnesFailCompile) {
  const FakeSet set({{.name = "a"}, {.runs_eval = false, .name = "b"}});
  const auto context = set.ContextWith();
  ReluGraph unknown({4}, context->CreateGraph());
  ASSERT_TRUE(vx::SetAffinity(*unknown.relu, "fake:7"));
  EXPECT_TRUE(CompileFailsWith(*unknown.graph,
                               "device 'fake:7' is none of the context's, "
                               "which are host, fake:0, fake:1"));
  ReluGraph impossible({4}, context->CreateGraph());
  ASSERT_TRUE(vx::SetAffinity(*impossible.relu, "fake:1"));
  EXPECT_TRUE(CompileFailsWith(
      *impossible.graph, "operation Relu#1 of graph '" /* and its name */));
  EXPECT_THAT(vx::LastError(),
              HasSubstr("must run on device fake:1, which cannot run it"));
  EXPECT_THAT(vx::LastError(), HasSubstr("it has no kernel for tim.Relu"));
}

// The only device beside the host gives its reason as well.
TEST(Affinity, ToTheOnlyDeviceFailsCompileWithItsReason) {
  const FakeOptions none{.runs_eval = false};
  const FakeSet set(std::vector<FakeOptions>{none});
  ReluGraph pinned({4}, set.ContextWith()->CreateGraph());
  ASSERT_TRUE(vx::SetAffinity(*pinned.relu, "fake:0"));
  EXPECT_TRUE(CompileFailsWith(*pinned.graph, "must run on device fake"));
  EXPECT_THAT(vx::LastError(), HasSubstr("it has no kernel for tim.Relu"));
  ReluGraph strict({4}, set.ContextWith("fallback=error")->CreateGraph());
  EXPECT_TRUE(CompileFailsWith(*strict.graph, "no device can run it"));
  EXPECT_THAT(vx::LastError(), HasSubstr("it has no kernel for tim.Relu"));
}

// "opencl" is "opencl:0" in a list, too.
TEST(Affinity, KindAloneIsItsFirstDevice) {
  const FakeSet set({{.name = "a"}, {.name = "b"}});
  ReluGraph graph({4}, set.ContextWith()->CreateGraph());
  ASSERT_TRUE(vx::SetAffinity(*graph.relu, "fake"));
  ASSERT_TRUE(graph.graph->Compile()) << vx::LastError();
  EXPECT_THAT(DevicesOf(*graph.graph), ElementsAre(1));
  ASSERT_TRUE(vx::SetAffinity(*graph.relu, "fake:1"));
  ASSERT_TRUE(graph.graph->Compile()) << vx::LastError();
  EXPECT_THAT(DevicesOf(*graph.graph), ElementsAre(2));
}

}  // namespace
}  // namespace tim::testing
