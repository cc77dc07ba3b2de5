// Shapes that TRANSIENT tensors declare: kept where as many elements are made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/doubts.h"
#include "tests/support/vx/inferred_graph.h"

namespace tim::testing {
namespace {

using vx::ShapeType;
namespace ops = vx::ops;

// Stack(1, 2) of two [1], which makes [1, 2], and a Concat of it with itself
// along axis 0.
MakeGraph Stacked(const ShapeType& declared) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto a = graph->CreateTensor(Floats({1}, vx::INPUT));
    auto b = graph->CreateTensor(Floats({1}, vx::INPUT));
    auto c = graph->CreateTensor(Floats({2}, vx::INPUT));
    auto stacked = graph->CreateTensor(Floats(declared, vx::TRANSIENT));
    auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
    graph->CreateOperation<ops::Stack>(1, 2)->BindInputs({a, b}).BindOutput(
        stacked);
    graph->CreateOperation<ops::Concat>(0, 2)
        ->BindInputs({stacked, c})
        .BindOutput(y);
    return graph;
  };
}

TEST(TransientShape, IsKeptWithoutAWordWhereOnesDiffer) {
  ExpectNoDoubt(Stacked({2}));
  const auto context = HostContext();
  const auto graph = Stacked({2})(*context);
  const auto inputs = graph->InputsTensor();
  Write<float>(inputs[0], {1});
  Write<float>(inputs[1], {2});
  Write<float>(inputs[2], {3, 4});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(graph->OutputsTensor()[0]), (std::vector<float>{1, 2, 3, 4}));
}

TEST(TransientShape, OfAnotherCountDoesNotMatter) {
  for (const ShapeType& stale : {ShapeType{3}, ShapeType{0}, ShapeType{}}) {
    const auto context = HostContext();
    EXPECT_TRUE(CompileFailsWith(*Stacked(stale)(*context), "Concat#2"));
  }
}

// Relu of [4, 6] into a TRANSIENT, and a sum along axis 0 of it.
MakeGraph Summed(const ShapeType& declared, ShapeType* found = nullptr) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(Floats({4, 6}, vx::INPUT));
    auto t = graph->CreateTensor(Floats(declared, vx::TRANSIENT));
    auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
    graph->CreateOperation<ops::Relu>()->BindInput(x).BindOutput(t);
    graph->CreateOperation<ops::ReduceSum>(std::vector<int32_t>{0}, false)
        ->BindInput(t)
        .BindOutput(y);
    if (found != nullptr) {
      EXPECT_TRUE(graph->Compile()) << vx::LastError();
      *found = y->GetShape();
    }
    return graph;
  };
}

TEST(TransientShape, OfOtherExtentsIsKeptWithAWarning) {
  ExpectDoubt(Summed({6, 4}), {"operation Relu#1", "t1, is declared as [6, 4]",
                               "gives [4, 6]", "Reshape or Transpose"});
  ShapeType found;
  Summed({6, 4}, &found)(*HostContext());
  EXPECT_EQ(found, (ShapeType{4}));
  Summed({4, 6}, &found)(*HostContext());
  EXPECT_EQ(found, (ShapeType{6}));
  ExpectNoDoubt(Summed({4, 6}));
  ExpectNoDoubt(Summed({4, 6, 1}));
}

// Layout inference makes the Reshape, and says it: the graph it returns has a
// Reshape that nobody doubts.
TEST(TransientShape, IsKeptByLayoutInference) {
  const auto context = HostContext();
  const auto graph = Summed({6, 4})(*context);
  const std::string log = LogOf([&] {
    InferredGraph inferred(graph);
    const auto x = graph->InputsTensor()[0];
    inferred.Write(x, std::vector<float>(24, 1.0f));
    inferred.Run();
    EXPECT_EQ(inferred.Read(graph->OutputsTensor()[0]),
              std::vector<float>(4, 6.0f));
  });
  EXPECT_EQ(Count(log, "[warning]"), 1) << log;
}

// Declared in the order of the user's layout, which is not the native one.
TEST(TransientShape, OfTheUsersLayoutIsSilentInLayoutInference) {
  const auto context = HostContext();
  auto graph = context->CreateGraph();
  auto x = graph->CreateTensor(Floats({2, 4, 6, 1}, vx::INPUT));
  auto t = graph->CreateTensor(Floats({2, 2, 3, 1}, vx::TRANSIENT));
  auto y = graph->CreateTensor(Floats({2, 2, 3, 1}, vx::OUTPUT));
  graph
      ->CreateOperation<ops::Pool2d>(vx::PoolType::MAX, vx::PadType::VALID,
                                     std::array<uint32_t, 2>{2, 2},
                                     std::array<uint32_t, 2>{2, 2},
                                     vx::RoundType::FLOOR, vx::DataLayout::CWHN)
      ->BindInput(x)
      .BindOutput(t);
  graph->CreateOperation<ops::Relu>()->BindInput(t).BindOutput(y);
  const std::string log = LogOf([&] {
    InferredGraph inferred(graph);
    inferred.Write(x, Ramp(48));
    inferred.Run();
    EXPECT_EQ(inferred.Read(y).size(), 12u);
  });
  EXPECT_EQ(Count(log, "[warning]"), 0) << log;
}

}  // namespace
}  // namespace tim::testing
