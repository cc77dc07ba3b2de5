#include "ops/reduction/reduce_axes.h"

#include <gtest/gtest.h>

#include "tests/support/status_macros.h"

namespace tim::ops {
namespace {

using Groups = std::vector<ReduceGroup>;

TEST(ReducedAxes, WrapsAndTakesAnAxisTwice) {
  const auto reduced = ReducedAxes({-1, 0, 0}, 3);
  ASSERT_OK(reduced);
  EXPECT_EQ(*reduced, (std::vector<bool>{true, false, true}));
}

TEST(ReduceGroups, NeighboursGoTogether) {
  EXPECT_EQ(ReduceGroups({2, 3, 5, 7}, {false, true, true, false}),
            (Groups{{.inner = 2, .count = 15, .outer = 7}}));
  // What lies between them has extent 1.
  EXPECT_EQ(ReduceGroups({2, 3, 1, 5}, {false, true, false, true}),
            (Groups{{.inner = 2, .count = 15, .outer = 1}}));
}

TEST(ReduceGroups, OthersFollowOnWhatIsLeft) {
  EXPECT_EQ(ReduceGroups({2, 3, 5, 7}, {true, false, true, false}),
            (Groups{{.inner = 1, .count = 2, .outer = 105},
                    {.inner = 3, .count = 5, .outer = 7}}));
}

TEST(ReduceGroups, SingleElementsAreOneGroup) {
  EXPECT_EQ(ReduceGroups({4, 1, 5}, {false, true, false}),
            (Groups{{.inner = 20, .count = 1, .outer = 1}}));
  EXPECT_EQ(ReduceGroups({1, 1}, {true, true}), (Groups{{}}));
}

TEST(PermuteAxes, RemovedAxesLeaveThePermutation) {
  const std::vector<int> perm = {2, 0, 3, 1};
  const auto kept = PermuteAxes({2, 3, 5, 7}, {false, true, false, true},
                                /*keep_dims=*/false, perm);
  EXPECT_EQ(kept.axes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(kept.output, (std::vector<int>{1, 0}));
  EXPECT_FALSE(kept.same_order);
  const auto whole = PermuteAxes({2, 3, 5, 7}, {false, true, false, true},
                                 /*keep_dims=*/true, perm);
  EXPECT_EQ(whole.output, perm);
}

TEST(PermuteAxes, OrderStaysWhereGroupsDo) {
  const auto stays = PermuteAxes({2, 3, 5}, {false, true, true},
                                 /*keep_dims=*/false, std::vector{1, 2, 0});
  EXPECT_TRUE(stays.same_order);
  // Two groups become one, which is summed in another order.
  const auto joins = PermuteAxes({2, 3, 5}, {true, false, true},
                                 /*keep_dims=*/false, std::vector{0, 2, 1});
  EXPECT_FALSE(joins.same_order);
}

// 2^24 + 1 rounds to 2^24, so that every order has a sum of its own.
TEST(SumInOrder, LanesThenATree) {
  const auto value = [](int64_t i) { return i == 0 ? 0x1p24f : 1.0f; };
  EXPECT_EQ(SumInOrder(17, value), 0x1p24f + 14);
}

TEST(SumInOrder, ChunksAreARunAgain) {
  // Chunk 0 has 2^24 in lane 0 and 1022 more that the tree adds up, the 63 of
  // lane 0 get lost; then chunk 1, of three elements, is in lane 1.
  const auto value = [](int64_t i) { return i == 0 ? 0x1p24f : 1.0f; };
  const float first = SumInOrder(kReduceChunk, value);
  EXPECT_EQ(first, 0x1p24f + 15 * 64);
  EXPECT_EQ(SumInOrder(kReduceChunk + 3, value), first + 4);  // to even
}

}  // namespace
}  // namespace tim::ops
