// Rules of reductions, normalisations and operators that move elements against
// central differences.
#include <gtest/gtest.h>

#include "tests/gradients/gradient_check.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;
using ir::Shape;

TEST(ReductionRules, AgreeWithDifferences) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"}) {
    for (const Ints& axes : {Ints{0}, Ints{1}, Ints{-1, 0}, Ints{0, 1, 2}}) {
      for (const bool keep : {false, true}) {
        EXPECT_TRUE(GradientsAgree(
            {.op = op,
             .inputs = {{.shape = Shape({3, 4, 2})}},
             .attributes = {{"axis", axes}, {"keep_dims", keep}}}));
      }
    }
  }
}

TEST(NormalizationRules, AgreeWithDifferences) {
  for (const int64_t axis : {0, 1, -1}) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      EXPECT_TRUE(
          GradientsAgree({.op = op,
                          .inputs = {{.shape = Shape({4, 3, 2})}},
                          .attributes = {{"axis", axis}, {"beta", 0.75}}}));
    }
  }
  for (const int64_t axis : {0, 1}) {
    const int64_t extent = axis == 0 ? 5 : 4;
    EXPECT_TRUE(GradientsAgree({.op = "LayerNormalization",
                                .inputs = {{.shape = Shape({5, 4})},
                                           {.shape = Shape({extent})},
                                           {.shape = Shape({extent})}},
                                .attributes = {{"axis", axis}}}));
    EXPECT_TRUE(GradientsAgree(
        {.op = "RmsNormalization",
         .inputs = {{.shape = Shape({5, 4})}, {.shape = Shape({extent})}},
         .attributes = {{"axis", axis}}}));
    EXPECT_TRUE(GradientsAgree({.op = "RmsNormalization",
                                .inputs = {{.shape = Shape({5, 4})}},
                                .attributes = {{"axis", axis}}}));
  }
  EXPECT_TRUE(GradientsAgree({.op = "InstanceNormalization",
                              .inputs = {{.shape = Shape({3, 2, 3, 2})},
                                         {.shape = Shape({3})},
                                         {.shape = Shape({3})}}}));
}

TEST(NormalizationRules, BatchNormHasFiveGradients) {
  for (const Shape& shape :
       {Shape({3, 2, 4, 2}), Shape({3, 4, 2}), Shape({4, 3})}) {
    EXPECT_TRUE(
        GradientsAgree({.op = "BatchNorm",
                        .inputs = {{.shape = shape},
                                   {.shape = Shape({4})},
                                   {.shape = Shape({4}), .low = 0.5, .high = 2},
                                   {.shape = Shape({4})},
                                   {.shape = Shape({4})}},
                        .attributes = {{"eps", 1e-3}}}));
  }
  // One of each for all channels.
  EXPECT_TRUE(
      GradientsAgree({.op = "BatchNorm",
                      .inputs = {{.shape = Shape({3, 2, 4, 2})},
                                 {.shape = Shape({1})},
                                 {.shape = Shape({1}), .low = 0.5, .high = 2},
                                 {.shape = Shape({4})},
                                 {.shape = Shape({1})}},
                      .attributes = {{"eps", 1e-3}}}));
}

TEST(MovementRules, AgreeWithDifferences) {
  const GradientInput x = {.shape = Shape({4, 3, 2})};
  const GradientCase nodes[] = {
      {.op = "Reshape", .inputs = {x}, .attributes = {{"shape", Ints{6, -1}}}},
      {.op = "Squeeze",
       .inputs = {{.shape = Shape({3, 1, 2})}},
       .attributes = {{"axis", Ints{1}}}},
      {.op = "Transpose",
       .inputs = {x},
       .attributes = {{"perm", Ints{2, 0, 1}}}},
      {.op = "Reverse", .inputs = {x}, .attributes = {{"axis", Ints{0, 2}}}},
      {.op = "Concat",
       .inputs = {x, {.shape = Shape({4, 1, 2})}, x},
       .attributes = {{"axis", int64_t{1}}, {"input_cnt", int64_t{3}}}},
      {.op = "Split",
       .inputs = {{.shape = Shape({5, 2})}},
       .attributes = {{"axis", int64_t{0}}, {"slices", Ints{2, 3}}},
       .outputs = 2},
      {.op = "Stack",
       .inputs = {x, x},
       .attributes = {{"axis", int64_t{1}}, {"input_cnt", int64_t{2}}}},
      {.op = "Unstack",
       .inputs = {x},
       .attributes = {{"axis", int64_t{1}}, {"output_num", int64_t{3}}},
       .outputs = 3},
      {.op = "Pad",
       .inputs = {x},
       .attributes = {{"front_size", Ints{1, 0, 2}},
                      {"back_size", Ints{0, 3, 1}}}},
      {.op = "PadV2",
       .inputs = {x},
       .attributes = {{"front_size", Ints{0, 0, 2}},
                      {"back_size", Ints{1, 0, 0}},
                      {"const_val", 1.5}}},
      {.op = "Slice",
       .inputs = {x},
       .attributes = {{"dims", int64_t{2}},
                      {"start", Ints{1, 0}},
                      {"length", Ints{3, 2}}}},
      {.op = "Slice",
       .inputs = {{.shape = Shape({9, 5})}},
       .attributes = {{"dims", int64_t{2}},
                      {"start", Ints{1, 0}},
                      {"length", Ints{7, 5}},
                      {"step", Ints{3, 2}}}},
      {.op = "Broadcast",
       .inputs = {{.shape = Shape({1, 3})}},
       .attributes = {{"shape", Ints{4, 3, 2}}}},
      {.op = "Broadcast",
       .inputs = {{.shape = Shape({3, 2})}},
       .attributes = {{"shape", Ints{2, 4, 3}}, {"dimensions", Ints{2, 0}}}},
      {.op = "Tile",
       .inputs = {{.shape = Shape({3, 2, 2})}},
       .attributes = {{"multiples", Ints{2, 1, 3}}}},
  };
  for (const GradientCase& node : nodes) EXPECT_TRUE(GradientsAgree(node));
}

TEST(MovementRules, StridedSliceKnowsStridesAndMasks) {
  const GradientInput x = {.shape = Shape({7, 4, 3})};
  struct StridedCase {
    Ints begin;
    Ints end;
    Ints stride;
    int64_t shrink = 0;
    int64_t added = 0;
  };
  const StridedCase cases[] = {
      {{1, 0, 0}, {6, 4, 3}, {1, 1, 1}},
      {{1, 0}, {7, 4}, {2, 3}},
      {{6, 3, 0}, {0, 0, 3}, {-2, -1, 1}},
      {{1, 2, 0}, {6, 3, 3}, {1, 1, 1}, 2},
      {{0, 0, 0}, {7, 0, 4}, {1, 1, 2}, 0, 2},
  };
  for (const StridedCase& c : cases) {
    EXPECT_TRUE(GradientsAgree({.op = "StridedSlice",
                                .inputs = {x},
                                .attributes = {{"begin_dims", c.begin},
                                               {"end_dims", c.end},
                                               {"stride_dims", c.stride},
                                               {"shrink_axis_mask", c.shrink},
                                               {"new_axis_mask", c.added}}}));
  }
}

TEST(IndexingRules, RowsThatAreReadTwiceGetTheSum) {
  const GradientInput indices = {.shape = Shape({4}),
                                 .values = {2, 0, -1, 2},
                                 .wanted = false,
                                 .type = ir::DataType::kInt32};
  for (const int64_t axis : {0, 1, 2}) {
    EXPECT_TRUE(
        GradientsAgree({.op = "Gather",
                        .inputs = {{.shape = Shape({3, 4, 3})}, indices},
                        .attributes = {{"axis", axis}},
                        .order = 1}));
  }
  GradientInput matrix = indices;
  matrix.shape = Shape({2, 2});
  EXPECT_TRUE(GradientsAgree({.op = "Gather",
                              .inputs = {{.shape = Shape({4, 3})}, matrix},
                              .attributes = {{"axis", int64_t{1}}},
                              .order = 1}));
  EXPECT_TRUE(GradientsAgree({.op = "EmbeddingLookup",
                              .inputs = {indices, {.shape = Shape({2, 5})}},
                              .order = 1}));
}

}  // namespace
}  // namespace tim::testing
