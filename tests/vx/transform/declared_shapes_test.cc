// LayoutInference() and the shapes that OUTPUT tensors declare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/inferred_graph.h"

namespace tim::testing {
namespace {

using ::testing::SizeIs;
using vx::DataLayout;
using vx::ShapeType;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;

// Pooled extents may be ambiguous: what the user declares decides.
TEST(LayoutInference, LeavesPooledExtentsToTheDeclaration) {
  for (const uint32_t pooled : {2u, 3u}) {
    auto graph = HostContext()->CreateGraph();
    auto x = graph->CreateTensor(Floats({2, 5, 5, 1}, vx::INPUT));
    auto y = graph->CreateTensor(Floats({2, pooled, pooled, 1}, vx::OUTPUT));
    (*graph->CreateOperation<ops::Pool2d>(
         vx::PoolType::MAX, vx::PadType::VALID, Pair{2, 2}, Pair{2, 2},
         vx::RoundType::FLOOR, DataLayout::CWHN))
        .BindInput(x)
        .BindOutput(y);
    InferredGraph inferred(graph);
    inferred.Write(x, Ramp(50));
    inferred.Run();
    EXPECT_THAT(inferred.Read(y), SizeIs(2 * pooled * pooled));
  }
}

TEST(LayoutInference, LeavesOpenShapesToCompile) {
  auto graph = HostContext()->CreateGraph();
  auto x = graph->CreateTensor(Floats({3, 4, 4, 1}, vx::INPUT));
  auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
  (*graph->CreateOperation<ops::Pool2d>(vx::PoolType::MAX, vx::PadType::VALID,
                                        Pair{2, 2}, Pair{2, 2},
                                        vx::RoundType::FLOOR, DataLayout::CWHN))
      .BindInput(x)
      .BindOutput(y);
  ASSERT_TRUE(graph->Run());  // as [W, H, C, N], which it is not
  EXPECT_EQ(y->GetShape(), (ShapeType{1, 2, 4, 1}));
  InferredGraph inferred(graph);
  EXPECT_EQ(inferred[y]->GetShape(), ShapeType());
  inferred.Run();
  EXPECT_EQ(inferred[y]->GetShape(), (ShapeType{3, 2, 2, 1}));
}

// Its own shape is one of the user's order, not of the native one.
TEST(LayoutInference, ReshapesBehindTheTranspose) {
  for (const ShapeType& shape :
       {ShapeType{6, 2}, ShapeType{2, 6, 1, 1}, ShapeType{12}}) {
    auto graph = HostContext()->CreateGraph();
    auto x = graph->CreateTensor(Floats({3, 4, 4, 1}, vx::INPUT));
    auto y = graph->CreateTensor(Floats(shape, vx::OUTPUT));
    (*graph->CreateOperation<ops::Pool2d>(
         vx::PoolType::MAX, vx::PadType::VALID, Pair{2, 2}, Pair{2, 2},
         vx::RoundType::FLOOR, DataLayout::CWHN))
        .BindInput(x)
        .BindOutput(y);
    InferredGraph inferred(graph);
    const std::vector<float> values = Ramp(48, 1);
    inferred.Write(x, values);
    inferred.Run();
    std::vector<float> expected;
    for (const size_t h : {1, 3}) {
      for (const size_t w : {1, 3}) {
        for (size_t c = 0; c < 3; ++c) {
          expected.push_back(values[c + 3 * (w + 4 * h)]);
        }
      }
    }
    EXPECT_EQ(inferred.Read(y), expected);
  }
}

}  // namespace
}  // namespace tim::testing
