// Operators that move elements through the public API: what declared outputs
// and scalars mean.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using Floating = std::vector<float>;

class MovementGraph : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    ASSERT_NE(context, nullptr);
    graph_ = context->CreateGraph();
  }

  // An input 0, 1, 2, ...
  std::shared_ptr<vx::Tensor> Counting(const vx::ShapeType& shape) {
    const auto tensor = graph_->CreateTensor(Floats(shape, vx::INPUT));
    Floating values(tensor->GetSpec().GetElementNum());
    std::iota(values.begin(), values.end(), 0.0f);
    Write<float>(tensor, values);
    return tensor;
  }
  std::shared_ptr<vx::Tensor> Output(const vx::ShapeType& shape) {
    return graph_->CreateTensor(Floats(shape, vx::OUTPUT));
  }
  void Run() { EXPECT_TRUE(graph_->Run()) << vx::LastError(); }

  std::shared_ptr<vx::Graph> graph_;
};

INSTANTIATE_TEST_SUITE_P(Devices, MovementGraph,
                         ::testing::Values("host", "opencl"));

// begin == end takes nothing, but the declared output rules.
TEST_P(MovementGraph, DeclaredExtentsOfAStridedSliceRule) {
  const std::vector<int32_t> zeros = {0, 0, 0}, ones = {1, 1, 1};
  const auto whole = Output({3, 2, 1});
  const auto shrunk = Output({3, 2});
  const auto part = Output({2, 2});
  const auto x = Counting({3, 2, 1});
  const auto slice = [&](int32_t shrink, const auto& output) {
    (*graph_->CreateOperation<vx::ops::StridedSlice>(zeros, zeros, ones, 0, 0,
                                                     shrink))
        .BindInput(x)
        .BindOutput(output);
  };
  slice(4, whole);
  slice(4, shrunk);
  slice(4, part);
  Run();
  EXPECT_EQ(Read(whole), (Floating{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Read(shrunk), (Floating{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Read(part), (Floating{0, 1, 3, 4}));
}

// [2, 3] of [4, 3], declared as [6].
TEST_P(MovementGraph, AStridedSliceMayBeGroupedInAnotherWay) {
  const std::vector<int32_t> begin = {2, 0}, end = {4, 3}, stride = {1, 1};
  const auto y = Output({6});
  (*graph_->CreateOperation<vx::ops::StridedSlice>(begin, end, stride, 0, 0, 0))
      .BindInput(Counting({4, 3}))
      .BindOutput(y);
  Run();
  EXPECT_EQ(Read(y), (Floating{2, 3, 6, 7, 10, 11}));
}

TEST_P(MovementGraph, StackedScalarsAreARow) {
  const auto a = Counting({1}), b = Counting({1});
  a->SetScalar(1);
  b->SetScalar(1);
  Write<float>(b, {5});
  const auto row = graph_->CreateTensor(Floats({}, vx::TRANSIENT));
  (*graph_->CreateOperation<vx::ops::Stack>(0, 2))
      .BindInputs({a, b})
      .BindOutput(row);
  const auto y = Output({2, 2});
  const std::vector<uint32_t> shape = {2, 2};
  const std::vector<int32_t> dimensions = {1};
  (*graph_->CreateOperation<vx::ops::Broadcast>(shape, dimensions))
      .BindInput(row)
      .BindOutput(y);
  Run();
  EXPECT_EQ(Read(y), (Floating{0, 0, 5, 5}));
}

TEST_P(MovementGraph, UnstackedScalarsStackAgain) {
  std::vector<std::shared_ptr<vx::Tensor>> parts;
  for (int i = 0; i < 3; ++i) {
    parts.push_back(graph_->CreateTensor(Floats({}, vx::TRANSIENT)));
  }
  (*graph_->CreateOperation<vx::ops::Unstack>(0, 3))
      .BindInput(Counting({3}))
      .BindOutputs(parts);
  const auto y = Output({3});
  (*graph_->CreateOperation<vx::ops::Stack>(0, 3))
      .BindInputs({parts[2], parts[0], parts[1]})
      .BindOutput(y);
  Run();
  EXPECT_EQ(Read(y), (Floating{2, 0, 1}));
}

TEST_P(MovementGraph, PartsOfASplitGoTheirOwnWays) {
  const auto x = Counting({16, 5});
  const auto a = graph_->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto b = Output({16, 3});
  const std::vector<uint32_t> slices = {2, 3};
  (*graph_->CreateOperation<vx::ops::Split>(1u, slices))
      .BindInput(x)
      .BindOutputs({a, b});
  const auto sums = Output({16, 2});
  (*graph_->CreateOperation<vx::ops::Add>())
      .BindInputs({a, a})
      .BindOutput(sums);
  for (const float first : {0.0f, 7.0f}) {
    Floating values(80);
    std::iota(values.begin(), values.end(), first);
    Write<float>(x, values);
    Run();
    EXPECT_EQ(Read(b), Floating(values.begin() + 32, values.end()));
    Floating twice(values.begin(), values.begin() + 32);
    for (float& value : twice) value *= 2;
    EXPECT_EQ(Read(sums), twice);
  }
}

}  // namespace
}  // namespace tim::testing
