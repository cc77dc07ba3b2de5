#include "ir/index_limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace tim::ir {
namespace {

TEST(IndexLimit, LeavesRoomForAVectorBeyondTheLast) {
  EXPECT_LE(kMostKernelElements + 64, std::numeric_limits<int32_t>::max());
}

TEST(IndexLimit, IsReachedByOffsetAndCountTogether) {
  EXPECT_TRUE(IndicesFit(1, kMostKernelElements - 1));
  EXPECT_FALSE(IndicesFit(1, kMostKernelElements));
  EXPECT_TRUE(IndicesFit(kMostKernelElements - 10, 10));
  EXPECT_FALSE(IndicesFit(kMostKernelElements - 10, 11));
  EXPECT_TRUE(IndicesFit(kMostKernelElements, 0));
  EXPECT_FALSE(IndicesFit(kMostKernelElements + 1, 0));
}

TEST(IndexLimit, IsNotThatOfWhatBeginsWithItsBuffer) {
  EXPECT_TRUE(IndicesFit(0, kMostKernelElements));
  EXPECT_TRUE(IndicesFit(0, std::numeric_limits<int64_t>::max()));
}

TEST(IndexLimit, DoesNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(IndicesFit(kMost, kMost));
  EXPECT_FALSE(IndicesFit(1, kMost));
  EXPECT_FALSE(IndicesFit(kMost, 1));
}

}  // namespace
}  // namespace tim::ir
