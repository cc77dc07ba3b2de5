// Layout arguments that Compile() does not apply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/doubts.h"
#include "tests/support/vx/inferred_graph.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using vx::DataLayout;
using vx::ShapeType;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;
constexpr char kRemedy[] = "tim::transform::LayoutInference()";

// An operation from an input of `in` to an output of open shape.
template <typename Make>
MakeGraph OneOperation(const ShapeType& in, Make make) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(Floats(in, vx::INPUT));
    auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
    make(*graph)->BindInput(x).BindOutput(y);
    return graph;
  };
}

auto PoolIn(DataLayout layout) {
  return [layout](vx::Graph& graph) {
    return graph.CreateOperation<ops::Pool2d>(
        vx::PoolType::MAX, vx::PadType::VALID, Pair{2, 2}, Pair{2, 2},
        vx::RoundType::FLOOR, layout);
  };
}

TEST(LayoutDoubt, PoolingNamesLayoutAndRemedy) {
  ExpectDoubt(OneOperation({8, 16, 16, 1}, PoolIn(DataLayout::CWHN)),
              {"operation Pool2d#1", "attribute 'layout' says CWHN",
               "data is read as WHCN", kRemedy, "[8, 16, 16, 1]"});
}

TEST(LayoutDoubt, NativeLayoutsAreSilent) {
  for (const DataLayout layout : {DataLayout::WHCN, DataLayout::ANY}) {
    ExpectNoDoubt(OneOperation({16, 16, 8, 1}, PoolIn(layout)));
  }
}

TEST(LayoutDoubt, WhatLayoutInferenceReturnsIsSilent) {
  for (const Lenient lenient : {Lenient::kYes, Lenient::kNo}) {
    const auto context = HostContext(lenient);
    const std::string log = LogOf([&] {
      const InferredGraph inferred(
          OneOperation({8, 16, 16, 1}, PoolIn(DataLayout::CWHN))(*context), {},
          context);
      EXPECT_TRUE(inferred.graph().Compile()) << vx::LastError();
    });
    EXPECT_EQ(Count(log, "[warning]"), 0) << log;
  }
}

MakeGraph Convolution(DataLayout input, DataLayout kernel, const ShapeType& in,
                      const ShapeType& weights) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(Floats(in, vx::INPUT));
    auto w = graph->CreateTensor(Floats(weights, vx::INPUT));
    auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
    graph
        ->CreateOperation<ops::Conv2d>(std::array<uint32_t, 4>{0, 0, 0, 0},
                                       Pair{1, 1}, Pair{1, 1}, 0, input, kernel)
        ->BindInputs({x, w})
        .BindOutput(y);
    return graph;
  };
}

// One warning for both.
TEST(LayoutDoubt, ConvolutionNamesBothArguments) {
  ExpectDoubt(
      Convolution(DataLayout::CWHN, DataLayout::IcWHOc, {4, 4, 4, 1},
                  {2, 2, 4, 4}),
      {"attribute 'input_layout' says CWHN",
       "attribute 'kernel_layout' says IcWHOc", "read as WHIcOc", kRemedy});
}

TEST(LayoutDoubt, OtherOperators) {
  ExpectDoubt(OneOperation({2, 4, 4, 1},
                           [](vx::Graph& graph) {
                             return graph.CreateOperation<ops::Resize>(
                                 vx::ResizeType::NEAREST_NEIGHBOR, 2.0f, false,
                                 false, 0, 0, DataLayout::CWHN);
                           }),
              {"says CWHN", kRemedy});
  ExpectDoubt(OneOperation({4, 4, 4, 1},
                           [](vx::Graph& graph) {
                             return graph.CreateOperation<ops::SpaceToDepth>(
                                 std::vector<int>{2, 2}, DataLayout::CWHN);
                           }),
              {"says CWHN", kRemedy});
}

// Operators that layout inference does not know either.
TEST(LayoutDoubt, LayoutsWithoutEffect) {
  ExpectDoubt(
      OneOperation({8, 8, 2},
                   [](vx::Graph& graph) {
                     return graph.CreateOperation<ops::Resize1d>(
                         vx::ResizeType::NEAREST_NEIGHBOR, 2.0f, false, false,
                         0, DataLayout::CWHN);
                   }),
      {"attribute 'layout' is CWHN", "no effect on Resize1d", "Transpose"});
}

// Where the operands do not fit, the cause is said beside the error.
TEST(LikelyCause, LayoutsThatNothingApplied) {
  const auto graph = Convolution(DataLayout::CWHN, DataLayout::IcWHOc,
                                 {3, 16, 16, 1}, {3, 5, 5, 8})(*HostContext());
  EXPECT_TRUE(CompileFailsWith(*graph, "channels"));
  EXPECT_THAT(graph->ErrorMessage(), HasSubstr("'input_layout' says CWHN"));
  EXPECT_THAT(graph->ErrorMessage(), HasSubstr(kRemedy));
}

TEST(LikelyCause, DimensionsInTheOrderOfFrameworks) {
  const auto native = DataLayout::WHCN;
  const auto kernel = DataLayout::WHIcOc;
  const auto all =
      Convolution(native, kernel, {1, 3, 16, 16}, {8, 3, 5, 5})(*HostContext());
  EXPECT_TRUE(CompileFailsWith(*all, "all of them in reverse order"));
  const auto one =
      Convolution(native, kernel, {16, 16, 3, 1}, {8, 3, 5, 5})(*HostContext());
  EXPECT_TRUE(CompileFailsWith(*one, "input 1 in reverse order, [5, 5, 3, 8]"));
  const auto none =
      Convolution(native, kernel, {16, 16, 3, 1}, {5, 5, 4, 8})(*HostContext());
  EXPECT_TRUE(CompileFailsWith(*none, "channels"));
  EXPECT_THAT(none->ErrorMessage(), Not(HasSubstr("reverse")));
}

// Another order does not make a size smaller.
TEST(LikelyCause, NoneOfASizeThatOverflows) {
  constexpr int32_t kMany = 2000000000;
  const auto graph = OneOperation({3, 2}, [](vx::Graph& graph) {
    return graph.CreateOperation<ops::Tile>(std::vector<int32_t>{kMany, kMany});
  })(*HostContext());
  EXPECT_TRUE(CompileFailsWith(*graph, "overflows 64 bits"));
  EXPECT_THAT(graph->ErrorMessage(), Not(HasSubstr("reverse")));
}

}  // namespace
}  // namespace tim::testing
