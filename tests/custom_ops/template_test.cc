// The template that users start from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "custom_ops/template/my_op.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using ::testing::ElementsAre;

TEST(Template, RunsOnEveryRank) {
  for (const vx::ShapeType& shape :
       {vx::ShapeType{4}, {2, 2}, {1, 4, 1}, {1, 2, 1, 2}}) {
    std::shared_ptr<vx::Graph> graph = testing::OpenClGraph();
    const auto x = graph->CreateTensor(testing::Floats(shape, vx::INPUT));
    const auto y = graph->CreateTensor(testing::Floats(shape, vx::OUTPUT));
    graph->CreateOperation<MyOp>(0.25f)->Clone(graph)->BindInput(x).BindOutput(
        y);
    graph->OpVector().erase(graph->OpVector().begin());  // keep the clone
    testing::Write<float>(x, {-4, 0, 3, -1});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(testing::Read(y), ElementsAre(-1, 0, 3, -0.25f));
  }
}

TEST(Template, RefusesAnotherType) {
  const auto graph = testing::OpenClGraph();
  const vx::TensorSpec in(vx::DataType::UINT8, {2}, vx::INPUT);
  const vx::TensorSpec out(vx::DataType::UINT8, {2}, vx::OUTPUT);
  graph->CreateOperation<MyOp>(0.25f)
      ->BindInput(graph->CreateTensor(in))
      .BindOutput(graph->CreateTensor(out));
  EXPECT_TRUE(testing::CompileFailsWith(*graph, "MyOp takes FLOAT32"));
}

}  // namespace
}  // namespace tim::custom_ops
