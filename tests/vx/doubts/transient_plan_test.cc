// Shapes that TRANSIENT tensors declare cost no step.
#include <gtest/gtest.h>

#include <array>

#include "ir/plan.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using vx::ShapeType;
namespace ops = vx::ops;

// A convolution, Relu and a sum with a tensor of the same size, each into a
// TRANSIENT so declared; its plan.
ir::Plan PlanOf(const std::shared_ptr<vx::Context>& context,
                const ShapeType& declared) {
  auto graph = context->CreateGraph();
  const ShapeType shape = {16, 16, 8, 1};
  const std::vector<float> values(3 * 3 * 8 * 8, 0.125f);
  auto x = graph->CreateTensor(Floats(shape, vx::INPUT));
  auto more = graph->CreateTensor(Floats(shape, vx::INPUT));
  auto w =
      graph->CreateTensor(Floats({3, 3, 8, 8}, vx::CONSTANT), values.data());
  const auto transient = [&] {
    return graph->CreateTensor(Floats(declared, vx::TRANSIENT));
  };
  auto sums = transient(), positive = transient(), relu = transient();
  auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
  graph
      ->CreateOperation<ops::Conv2d>(vx::PadType::SAME,
                                     std::array<uint32_t, 2>{1, 1},
                                     std::array<uint32_t, 2>{1, 1})
      ->BindInputs({x, w})
      .BindOutput(sums);
  graph->CreateOperation<ops::Relu>()->BindInput(sums).BindOutput(positive);
  graph->CreateOperation<ops::Relu>()->BindInput(more).BindOutput(relu);
  graph->CreateOperation<ops::Add>()
      ->BindInputs({positive, relu})
      .BindOutput(y);
  EXPECT_TRUE(graph->Compile()) << vx::LastError();
  return *vx::CompiledPlan(*graph);
}

TEST(TransientPlan, IsThatOfOpenShapes) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  const ir::Plan open = PlanOf(context, {});
  const ir::Plan same = PlanOf(context, {16, 16, 8, 1});
  EXPECT_EQ(same.steps.size(), open.steps.size()) << ir::Dump(same);
  // Another rank: the Reshape is a view, behind what is fused.
  const ir::Plan lower = PlanOf(context, {16, 16, 8});
  EXPECT_EQ(lower.steps.size(), open.steps.size()) << ir::Dump(lower);
}

}  // namespace
}  // namespace tim::testing
