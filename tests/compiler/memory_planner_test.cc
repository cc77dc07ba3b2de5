#include "compiler/memory/memory_planner.h"

#include <gtest/gtest.h>

#include <random>

namespace tim::compiler {
namespace {

void ExpectDisjoint(const std::vector<MemoryRange>& ranges,
                    const MemoryLayout& layout, int64_t alignment) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % alignment, 0);
    EXPECT_LE(layout.offsets[i] + ranges[i].bytes, layout.peak);
    for (size_t j = 0; j < i; ++j) {
      const bool together = ranges[i].first_step <= ranges[j].last_step &&
                            ranges[j].first_step <= ranges[i].last_step;
      const bool overlap =
          layout.offsets[i] < layout.offsets[j] + ranges[j].bytes &&
          layout.offsets[j] < layout.offsets[i] + ranges[i].bytes;
      EXPECT_FALSE(together && overlap) << i << " and " << j;
    }
  }
}

TEST(MemoryPlanner, PingPongNeedsTwoBuffers) {
  const std::vector<MemoryRange> ranges = {
      {100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
  EXPECT_EQ(MemoryLowerBound(ranges, 64), 256);
  const MemoryLayout layout = PlaceBest(ranges, 64);
  EXPECT_EQ(layout.peak, 256);
  ExpectDisjoint(ranges, layout, 64);
}

TEST(MemoryPlanner, NothingNeedsNothing) {
  EXPECT_EQ(MemoryLowerBound({}, 64), 0);
  EXPECT_EQ(PlaceBest({}, 64).peak, 0);
}

TEST(MemoryPlanner, BySizeBeatsByTimeWhereALateRangeIsLarge) {
  // Placed by time, the small long-lived range splits the space that the last
  // one needs.
  const std::vector<MemoryRange> ranges = {
      {256, 0, 1}, {64, 1, 4}, {512, 3, 4}};
  const MemoryLayout best = PlaceBest(ranges, 64);
  EXPECT_EQ(best.peak, MemoryLowerBound(ranges, 64));
  EXPECT_GT(PlaceByTime(ranges, 64).peak, best.peak);
  ExpectDisjoint(ranges, best, 64);
}

TEST(MemoryPlanner, RandomRangesNeverOverlapAndStayNearTheBound) {
  std::mt19937 rng(20261121);
  for (int round = 0; round < 50; ++round) {
    std::vector<MemoryRange> ranges(1 + rng() % 60);
    for (MemoryRange& range : ranges) {
      range.first_step = static_cast<int>(rng() % 40);
      range.last_step = range.first_step + static_cast<int>(rng() % 8);
      range.bytes = 1 + rng() % 5000;
    }
    const int64_t bound = MemoryLowerBound(ranges, 128);
    for (const MemoryLayout& layout :
         {PlaceBySize(ranges, 128), PlaceByTime(ranges, 128)}) {
      ExpectDisjoint(ranges, layout, 128);
      EXPECT_GE(layout.peak, bound);
    }
    EXPECT_LE(PlaceBest(ranges, 128).peak, 1.3 * bound) << "round " << round;
  }
}

}  // namespace
}  // namespace tim::compiler
