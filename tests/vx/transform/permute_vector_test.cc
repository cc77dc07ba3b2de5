#include "tim/transform/permute_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tim::transform {
namespace {

using ::testing::ElementsAre;

TEST(PermuteVector, MovesNothingAtFirst) {
  const PermuteVector<4> p;
  EXPECT_EQ(p.Rank(), 4u);
  EXPECT_TRUE(p.IsAligned());
  EXPECT_THAT(p.AsStdVec(), ElementsAre(0, 1, 2, 3));
}

TEST(PermuteVector, HasTheAxesOfItsList) {
  PermuteVector<4> p = {1, 2, 0, 3};
  EXPECT_FALSE(p.IsAligned());
  EXPECT_EQ(p.At(0), 1u);
  EXPECT_EQ(p.AsText(), "1, 2, 0, 3");
  p.ReInitialize();
  EXPECT_TRUE(p.IsAligned());
}

TEST(PermuteVector, ReverseLeadsBack) {
  PermuteVector<4> p = {1, 2, 0, 3};
  const IPermuteVectorPtr back = p.Reverse();
  EXPECT_THAT(back->AsStdVec(), ElementsAre(2, 0, 1, 3));
  EXPECT_TRUE(p.Add(back)->IsAligned());
  EXPECT_TRUE(back->Add(std::make_shared<PermuteVector<4>>(p))->IsAligned());
}

// First the left one: axis i of the sum is axis p[q[i]].
TEST(PermuteVector, AddsInOrder) {
  const PermuteVector<3> p = {2, 0, 1};
  const auto q = std::make_shared<PermuteVector<3>>(PermuteVector<3>{0, 2, 1});
  EXPECT_THAT(p.Add(q)->AsStdVec(), ElementsAre(2, 1, 0));
}

TEST(PermuteVector, OfASmallerOneKeepsTheFurtherAxes) {
  const PermuteVector<2> small = {1, 0};
  const PermuteVector<4> p(small);
  EXPECT_THAT(p.AsStdVec(), ElementsAre(1, 0, 2, 3));
}

TEST(PermuteVector, IsCopiedAndAssigned) {
  PermuteVector<3> p = {2, 0, 1};
  PermuteVector<3> q = p;
  p.ReInitialize();
  EXPECT_THAT(q.AsStdVec(), ElementsAre(2, 0, 1));
  p = q;
  EXPECT_THAT(p.AsStdVec(), ElementsAre(2, 0, 1));
}

TEST(PermuteVector, MistakesThrow) {
  EXPECT_THROW((PermuteVector<3>{0, 1}), std::invalid_argument);
  PermuteVector<3> twice = {1, 1, 0};
  EXPECT_THROW(twice.Reverse(), std::invalid_argument);
  PermuteVector<3> beyond = {1, 3, 0};
  EXPECT_THROW(beyond.Reverse(), std::out_of_range);
  EXPECT_THROW(beyond.At(3), std::out_of_range);
  EXPECT_THROW(beyond.Add(nullptr), std::invalid_argument);
  EXPECT_THROW(beyond.Add(MakeShared(4)), std::invalid_argument);
}

TEST(MakeShared, GivesRanksOneToTen) {
  EXPECT_EQ(MakeShared(0)->Rank(), 1u);
  for (uint32_t rank = 1; rank <= 10; ++rank) {
    EXPECT_EQ(MakeShared(rank)->Rank(), rank);
    EXPECT_TRUE(MakeShared(rank)->IsAligned());
  }
  EXPECT_EQ(MakeShared(11), nullptr);
}

}  // namespace
}  // namespace tim::transform
