// Declared OUTPUT shapes that no reading of the operator's rule gives.
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/doubts.h"

namespace tim::testing {
namespace {

using vx::PadType;
using vx::ShapeType;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;
using Quad = std::array<uint32_t, 4>;

// A 3x3 convolution of [16, 16, 4, 1] with padding 1.
MakeGraph Convolution(const ShapeType& declared, uint32_t stride = 1) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(Floats({16, 16, 4, 1}, vx::INPUT));
    auto w = graph->CreateTensor(Floats({3, 3, 4, 8}, vx::INPUT));
    auto y = graph->CreateTensor(Floats(declared, vx::OUTPUT));
    graph
        ->CreateOperation<ops::Conv2d>(Quad{1, 1, 1, 1}, Pair{stride, stride},
                                       Pair{1, 1})
        ->BindInputs({x, w})
        .BindOutput(y);
    return graph;
  };
}

TEST(DeclaredSize, ConvolutionBeyondItsRule) {
  ExpectDoubt(Convolution({18, 18, 8, 1}),
              {"operation Conv2d#1", "declared as [18, 18, 8, 1]",
               "along W 18 where the operation gives 16", "along H 18",
               "declare what the operation gives"});
  ExpectDoubt(Convolution({16, 15, 8, 1}), {"along H 15"});
}

TEST(DeclaredSize, EveryRoundingIsSilent) {
  ExpectNoDoubt(Convolution({16, 16, 8, 1}));
  ExpectNoDoubt(Convolution({}));
  // 7.5 windows beyond the first one
  ExpectNoDoubt(Convolution({8, 8, 8, 1}, 2));
  ExpectNoDoubt(Convolution({9, 9, 8, 1}, 2));
  ExpectDoubt(Convolution({10, 9, 8, 1}, 2), {"along W 10", "8 to 9"});
}

MakeGraph Pooling(const ShapeType& in, const ShapeType& declared) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(Floats(in, vx::INPUT));
    auto y = graph->CreateTensor(Floats(declared, vx::OUTPUT));
    graph
        ->CreateOperation<ops::Pool2d>(vx::PoolType::MAX, PadType::VALID,
                                       Pair{2, 2}, Pair{2, 2})
        ->BindInput(x)
        .BindOutput(y);
    return graph;
  };
}

TEST(DeclaredSize, PoolingWithWidthAndHeightExchanged) {
  ExpectDoubt(Pooling({16, 8, 3, 1}, {4, 8, 3, 1}),
              {"operation Pool2d#1", "declared as [4, 8, 3, 1]",
               "gives [8, 4, 3, 1]", "Transpose"});
  ExpectDoubt(Pooling({16, 8, 3, 1}, {9, 4, 3, 1}), {"along W 9"});
  ExpectNoDoubt(Pooling({15, 7, 3, 1}, {8, 3, 3, 1}));
  ExpectNoDoubt(Pooling({16, 8, 3, 1}, {8, 4, 3}));
}

MakeGraph Transposed(const ShapeType& declared) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(Floats({5, 5, 2, 1}, vx::INPUT));
    auto w = graph->CreateTensor(Floats({3, 3, 2, 2}, vx::INPUT));
    auto y = graph->CreateTensor(Floats(declared, vx::OUTPUT));
    graph
        ->CreateOperation<ops::DeConv2d>(2, PadType::SAME, Pair{3, 3},
                                         Pair{2, 2}, Pair{0, 0},
                                         Quad{0, 0, 0, 0})
        ->BindInputs({x, w})
        .BindOutput(y);
    return graph;
  };
}

// The declared size rules, within what a convolution could have come from.
TEST(DeclaredSize, TransposedConvolution) {
  for (const uint32_t size : {9u, 10u, 11u, 12u}) {
    ExpectNoDoubt(Transposed({size, size, 2, 1}));
  }
  ExpectDoubt(Transposed({14, 11, 2, 1}), {"along W 14", "10 to 12"});
}

MakeGraph Resized(const ShapeType& declared, float factor, int h, int w) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(Floats({5, 7, 2, 1}, vx::INPUT));
    auto y = graph->CreateTensor(Floats(declared, vx::OUTPUT));
    graph
        ->CreateOperation<ops::Resize>(vx::ResizeType::BILINEAR, factor, false,
                                       false, h, w)
        ->BindInput(x)
        .BindOutput(y);
    return graph;
  };
}

TEST(DeclaredSize, Resize) {
  ExpectNoDoubt(Resized({12, 17, 2, 1}, 2.5f, 0, 0));
  ExpectNoDoubt(Resized({13, 18, 2, 1}, 2.5f, 0, 0));
  ExpectNoDoubt(Resized({11, 9, 2, 1}, 0, 9, 11));
  ExpectDoubt(Resized({9, 11, 2, 1}, 0, 9, 11),
              {"along W 9 where the operation gives 11", "along H 11"});
  ExpectDoubt(Resized({}, 2, 15, 10), {"'target_height' is 15", "'factor'"});
}

TEST(DeclaredSize, StridedSlice) {
  const auto make = [](const ShapeType& declared) {
    return [declared](vx::Context& context) {
      auto graph = context.CreateGraph();
      auto x = graph->CreateTensor(Floats({8}, vx::INPUT));
      auto y = graph->CreateTensor(Floats(declared, vx::OUTPUT));
      graph
          ->CreateOperation<ops::StridedSlice>(std::vector<int32_t>{1},
                                               std::vector<int32_t>{4},
                                               std::vector<int32_t>{1}, 0, 0, 0)
          ->BindInput(x)
          .BindOutput(y);
      return graph;
    };
  };
  ExpectNoDoubt(make({3}));
  ExpectDoubt(make({5}), {"declared as [5]", "along axis 0 5", "give 3"});
}

TEST(DeclaredSize, PadsThatThePaddingDiscards) {
  const auto make = [](PadType padding) {
    return [=](vx::Context& context) {
      auto graph = context.CreateGraph();
      auto x = graph->CreateTensor(Floats({8, 8, 2, 1}, vx::INPUT));
      auto w = graph->CreateTensor(Floats({3, 3, 2, 4}, vx::INPUT));
      auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
      graph
          ->CreateOperation<ops::Conv2d>(4, padding, Pair{3, 3}, Pair{1, 1},
                                         Pair{1, 1}, Quad{1, 1, 1, 1})
          ->BindInputs({x, w})
          .BindOutput(y);
      return graph;
    };
  };
  ExpectDoubt(make(PadType::VALID), {"[1, 1, 1, 1]", "VALID", "AUTO"});
  ExpectNoDoubt(make(PadType::SAME));
  ExpectNoDoubt(make(PadType::AUTO));
}

TEST(DeclaredSize, ArgumentsThatTheKernelContradicts) {
  ExpectDoubt(
      [](vx::Context& context) {
        auto graph = context.CreateGraph();
        auto x = graph->CreateTensor(Floats({8, 8, 2, 1}, vx::INPUT));
        auto w = graph->CreateTensor(Floats({5, 3, 2, 4}, vx::INPUT));
        auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
        graph
            ->CreateOperation<ops::Conv2d>(4, PadType::VALID, Pair{3, 5},
                                           Pair{1, 1}, Pair{1, 1})
            ->BindInputs({x, w})
            .BindOutput(y);
        return graph;
      },
      {"attribute 'ksize' is [3, 5]", "[5, 3, 2, 4]"});
}

TEST(DeclaredSize, GlobalWindowsOfAnotherInput) {
  ExpectDoubt(
      [](vx::Context& context) {
        auto graph = context.CreateGraph();
        auto x = graph->CreateTensor(Floats({14, 14, 2, 1}, vx::INPUT));
        auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
        graph->CreateOperation<ops::Pool2d>(vx::PoolType::AVG, Pair{7, 7})
            ->BindInput(x)
            .BindOutput(y);
        return graph;
      },
      {"'input_size' is [7, 7]", "[14, 14, 2, 1]"});
}

}  // namespace
}  // namespace tim::testing
