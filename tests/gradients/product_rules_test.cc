// Rules of products of matrices, convolutions and pools against central
// differences.
#include <gtest/gtest.h>

#include "tests/gradients/gradient_check.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;
using ir::Shape;

TEST(MatmulRule, KnowsEveryFlag) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Shape a = ta ? Shape({4, 3}) : Shape({3, 4});
      const Shape b = tb ? Shape({3, 5}) : Shape({5, 3});
      EXPECT_TRUE(GradientsAgree(
          {.op = "Matmul",
           .inputs = {{.shape = a}, {.shape = b}},
           .attributes = {{"transpose_a", ta}, {"transpose_b", tb}}}));
    }
  }
}

TEST(MatmulRule, SumsOverBatchesThatAreBroadcast) {
  const std::pair<Shape, Shape> shapes[] = {
      {{3, 2, 4}, {2, 3, 4}},
      {{3, 2}, {2, 3, 4}},
      {{3, 2, 1, 2}, {2, 3, 3, 1}},
      {{3, 2, 2}, {2, 3, 1, 3}},
      {{3}, {2, 3}},
      {{3, 2}, {3}},
      {{3}, {3}},
      {{3}, {2, 3, 2}},
  };
  for (const auto& [a, b] : shapes) {
    EXPECT_TRUE(GradientsAgree(
        {.op = "Matmul", .inputs = {{.shape = a}, {.shape = b}}}));
  }
}

TEST(FullyConnectedRule, AgreesWithDifferences) {
  for (const int64_t axis : {0, 1}) {
    const int64_t depth = axis == 0 ? 4 : 12;
    for (const bool bias : {false, true}) {
      GradientCase node = {
          .op = "FullyConnected",
          .inputs = {{.shape = Shape({4, 3, 2})}, {.shape = Shape({depth, 5})}},
          .attributes = {{"axis", axis}}};
      if (bias) node.inputs.push_back({.shape = Shape({5})});
      EXPECT_TRUE(GradientsAgree(node));
    }
  }
}

struct Window {
  Ints stride = {1, 1};
  Ints dilation = {1, 1};
  Ints pad = {0, 0, 0, 0};
  int64_t padding = 0;  // Explicit; 1: VALID, 2: SAME.
};

TEST(Conv2dRule, KnowsStridesDilationsAndPads) {
  const Window windows[] = {
      {},
      {.stride = {2, 1}},
      {.stride = {3, 2}, .pad = {1, 0, 2, 1}},
      {.dilation = {2, 1}, .pad = {1, 2, 0, 1}},
      {.stride = {2, 3}, .dilation = {1, 2}, .padding = 2},
      {.stride = {2, 2}, .padding = 1},
      {.stride = {1, 1}, .dilation = {2, 2}, .padding = 2},
      {.stride = {3, 1}, .dilation = {2, 1}, .pad = {2, 2, 1, 1}},
  };
  for (const Window& window : windows) {
    for (const Shape& image : {Shape({7, 6, 2, 2}), Shape({8, 5, 2, 1})}) {
      EXPECT_TRUE(
          GradientsAgree({.op = "Conv2d",
                          .inputs = {{.shape = image},
                                     {.shape = Shape({3, 2, 2, 3})},
                                     {.shape = Shape({3})}},
                          .attributes = {{"stride", window.stride},
                                         {"dilation", window.dilation},
                                         {"pad", window.pad},
                                         {"padding", window.padding}}}));
    }
  }
}

TEST(Conv2dRule, KnowsGroupsAndDepthwiseForms) {
  const std::pair<Shape, int64_t> weights[] = {
      {{2, 3, 2, 6}, 0},  // Two groups.
      {{2, 3, 1, 4}, 0},  // A group for each channel.
      {{2, 3, 1, 8}, 2},  // Depthwise forms.
      {{2, 3, 8, 1}, 2}, {{2, 3, 4, 1}, 1},
  };
  for (const auto& [shape, multiplier] : weights) {
    for (const Window& window :
         {Window{}, Window{.stride = {2, 1}, .pad = {1, 1, 1, 0}},
          Window{.dilation = {2, 1}, .padding = 2}}) {
      EXPECT_TRUE(GradientsAgree(
          {.op = "Conv2d",
           .inputs = {{.shape = Shape({5, 6, 4, 2})}, {.shape = shape}},
           .attributes = {{"stride", window.stride},
                          {"dilation", window.dilation},
                          {"pad", window.pad},
                          {"padding", window.padding},
                          {"multiplier", multiplier}}}));
    }
  }
}

TEST(Conv2dRule, KnowsImagesThatNoWindowReaches) {
  const std::pair<Shape, Window> cases[] = {
      {{4, 1, 1, 2}, {.stride = {2, 3}, .pad = {0, 1, 2, 1}}},
      {{1, 5, 2, 1},
       {.stride = {4, 1}, .dilation = {2, 1}, .pad = {3, 2, 0, 0}}},
      {{1, 1, 1, 1}, {.stride = {4, 4}, .pad = {2, 2, 2, 2}}},
  };
  for (const auto& [image, window] : cases) {
    EXPECT_TRUE(
        GradientsAgree({.op = "Conv2d",
                        .inputs = {{.shape = image},
                                   {.shape = Shape({2, 2, image[2], 2})},
                                   {.shape = Shape({2})}},
                        .attributes = {{"stride", window.stride},
                                       {"dilation", window.dilation},
                                       {"pad", window.pad}}}));
  }
}

TEST(DeConv2dRule, AgreesWithDifferences) {
  struct Transposed {
    Ints stride = {1, 1};
    Ints pad = {0, 0, 0, 0};
    Ints output_padding = {0, 0};
    int64_t group = 1;
    Shape weights = {3, 2, 2, 3};
  };
  const Transposed cases[] = {
      {},
      {.stride = {2, 1}, .pad = {1, 0, 0, 1}},
      {.stride = {2, 3}, .pad = {1, 1, 0, 0}, .output_padding = {1, 2}},
      {.group = 2, .weights = {3, 2, 1, 4}},
      {.stride = {2, 1}, .group = 2, .weights = {3, 2, 2, 1}},
  };
  for (const Transposed& c : cases) {
    EXPECT_TRUE(GradientsAgree(
        {.op = "DeConv2d",
         .inputs = {{.shape = Shape({4, 3, 2, 2})}, {.shape = c.weights}},
         .attributes = {{"stride", c.stride},
                        {"pad", c.pad},
                        {"output_padding", c.output_padding},
                        {"group", c.group}}}));
  }
}

// Types: 0 MAX, 1 AVG, 3 AVG_ANDROID, 4 AVG over padded cells.
TEST(Pool2dRule, AgreesWithDifferences) {
  struct Pool {
    Ints ksize = {2, 2};
    Ints stride = {2, 2};
    Ints pad = {0, 0, 0, 0};
    int64_t padding = 0;
    int64_t rounding = 1;  // 0: ceiling.
  };
  const Pool pools[] = {
      {},
      {.ksize = {3, 2}, .stride = {1, 2}, .pad = {1, 1, 0, 1}},
      {.ksize = {3, 3}, .stride = {2, 2}, .padding = 2},
      {.ksize = {2, 3}, .stride = {3, 2}, .rounding = 0},
      {.ksize = {3, 2}, .stride = {2, 3}, .padding = 1},
  };
  for (const int64_t type : {0, 1, 3, 4}) {
    for (const Pool& pool : pools) {
      EXPECT_TRUE(GradientsAgree({.op = "Pool2d",
                                  .inputs = {{.shape = Shape({7, 6, 2, 2})}},
                                  .attributes = {{"type", type},
                                                 {"ksize", pool.ksize},
                                                 {"stride", pool.stride},
                                                 {"pad", pool.pad},
                                                 {"padding", pool.padding},
                                                 {"round_type", pool.rounding}},
                                  .order = type == 0 ? 1 : 2}));
    }
    EXPECT_TRUE(GradientsAgree({.op = "Pool2d",
                                .inputs = {{.shape = Shape({5, 4, 3, 1})}},
                                .attributes = {{"type", type},
                                               {"mode", "global"},
                                               {"input_size", Ints{5, 4}}},
                                .order = type == 0 ? 1 : 2}));
  }
}

// Operators that consist of others have the rules of these.
TEST(CompositeOperators, AreDifferentiatedThroughTheirBodies) {
  EXPECT_TRUE(GradientsAgree({.op = "GroupedConv2d",
                              .inputs = {{.shape = Shape({5, 4, 4, 1})},
                                         {.shape = Shape({3, 2, 2, 2})},
                                         {.shape = Shape({2})}},
                              .attributes = {{"group", int64_t{2}}},
                              .order = 1}));
}

}  // namespace
}  // namespace tim::testing
