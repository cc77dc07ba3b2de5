// Solvers of memory problems: ranges in conflict never overlap, small problems
// are solved as well as trying everything solves them.
#include "compiler/memory/memory_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "base/checked_math.h"
#include "base/str_cat.h"

namespace tim::compiler {
namespace {

constexpr MemorySolver kAll[] = {MemorySolver::kNone,   MemorySolver::kByTime,
                                 MemorySolver::kBySize, MemorySolver::kSomas,
                                 MemorySolver::kExact,  MemorySolver::kAuto};

void ExpectSound(const MemoryProblem& problem, const MemoryLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), problem.ranges.size());
  for (size_t i = 0; i < problem.ranges.size(); ++i) {
    const int64_t begin = layout.offsets[i];
    EXPECT_EQ(begin % problem.alignment, 0);
    EXPECT_GE(begin, 0);
    EXPECT_LE(begin + problem.ranges[i].bytes, layout.peak);
    for (size_t j = 0; j < i; ++j) {
      const int64_t other = layout.offsets[j];
      const bool overlap = begin < other + problem.ranges[j].bytes &&
                           other < begin + problem.ranges[i].bytes;
      EXPECT_FALSE(problem.InConflict(i, j) && overlap) << i << " and " << j;
    }
  }
}

MemoryProblem Random(std::mt19937& rng, size_t most, int steps, int life) {
  MemoryProblem problem{.alignment = rng() % 2 == 0 ? 1 : 128};
  problem.ranges.resize(1 + rng() % most);
  for (MemoryRange& range : problem.ranges) {
    range.first_step = static_cast<int>(rng() % steps);
    range.last_step = range.first_step + static_cast<int>(rng() % life);
    range.bytes = static_cast<int64_t>(rng() % 5000);
  }
  return problem;
}

// Conflicts beside those of time.
void AddConflicts(std::mt19937& rng, MemoryProblem* problem) {
  const size_t count = problem->ranges.size();
  std::vector<bool> conflicts(count * count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool both = problem->InConflict(i, j) || rng() % 4 == 0;
      conflicts[i * count + j] = conflicts[j * count + i] = both;
    }
  }
  problem->conflicts = std::move(conflicts);
}

// The least peak of all orders in which ranges are put as low as they go.
int64_t LeastPeak(const MemoryProblem& problem) {
  const size_t count = problem.ranges.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t least = -1;
  do {
    std::vector<int64_t> offsets(count, -1);
    int64_t peak = 0;
    for (const size_t i : order) {
      const int64_t bytes = AlignUp(problem.ranges[i].bytes, problem.alignment);
      int64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < count; ++j) {
          if (offsets[j] < 0 || !problem.InConflict(i, j)) continue;
          const int64_t end =
              offsets[j] + AlignUp(problem.ranges[j].bytes, problem.alignment);
          if (offset >= end || offset + bytes <= offsets[j]) continue;
          offset = end;
          moved = true;
        }
      }
      offsets[i] = offset;
      peak = std::max(peak, offset + bytes);
    }
    if (least < 0 || peak < least) least = peak;
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(MemoryPlanner, PingPongNeedsTwoBuffers) {
  const MemoryProblem problem{
      .ranges = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}},
      .alignment = 64};
  EXPECT_EQ(MemoryLowerBound(problem), 256);
  const MemoryLayout layout = Solve(problem, MemorySolver::kAuto);
  EXPECT_EQ(layout.peak, 256);
  EXPECT_EQ(layout.solver, MemorySolver::kByTime);
  EXPECT_TRUE(layout.proved);
  ExpectSound(problem, layout);
}

TEST(MemoryPlanner, NothingNeedsNothing) {
  for (const MemorySolver solver : kAll) {
    EXPECT_EQ(Solve({.alignment = 64}, solver).peak, 0) << ToString(solver);
  }
}

TEST(MemoryPlanner, BySizeBeatsByTimeWhereALateRangeIsLarge) {
  // Placed by time, the small long-lived range splits the space that the last
  // one needs.
  const MemoryProblem problem{.ranges = {{256, 0, 1}, {64, 1, 4}, {512, 3, 4}},
                              .alignment = 64};
  const MemoryLayout best = Solve(problem, MemorySolver::kAuto);
  EXPECT_EQ(best.peak, MemoryLowerBound(problem));
  EXPECT_GT(Solve(problem, MemorySolver::kByTime).peak, best.peak);
  ExpectSound(problem, best);
}

// 1000 problems for each solver; smaller ones for the one that takes long.
TEST(MemoryPlanner, EverySolverKeepsConflictsApart) {
  for (const MemorySolver solver : kAll) {
    std::mt19937 rng(20261121);
    const size_t most = solver == MemorySolver::kExact ? 16 : 40;
    for (int round = 0; round < 1000; ++round) {
      MemoryProblem problem = Random(rng, most, 30, 8);
      if (round % 3 == 0) AddConflicts(rng, &problem);
      const MemoryLayout layout = Solve(problem, solver);
      SCOPED_TRACE(StrCat(ToString(solver), ", round ", round));
      ExpectSound(problem, layout);
      EXPECT_GE(layout.peak, MemoryLowerBound(problem));
      EXPECT_LE(layout.peak, Solve(problem, MemorySolver::kNone).peak);
      if (HasFailure()) return;
    }
  }
}

TEST(MemoryPlanner, ExactIsAsGoodAsTryingAllOrders) {
  std::mt19937 rng(20261127);
  for (int round = 0; round < 500; ++round) {
    MemoryProblem problem = Random(rng, 7, 5, 3);
    if (round % 4 == 0) AddConflicts(rng, &problem);
    const MemoryLayout layout = Solve(problem, MemorySolver::kExact);
    ASSERT_EQ(layout.peak, LeastPeak(problem)) << "round " << round;
    ASSERT_TRUE(layout.proved);
    ASSERT_LE(Solve(problem, MemorySolver::kAuto).peak,
              Solve(problem, MemorySolver::kSomas).peak);
  }
}

TEST(MemoryPlanner, SolversComeNearTheBound) {
  std::mt19937 rng(7);
  double gap = 0;
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    MemoryProblem problem = Random(rng, 300, 200, 20);
    const auto bound = static_cast<double>(MemoryLowerBound(problem));
    const auto peak =
        static_cast<double>(Solve(problem, MemorySolver::kAuto).peak);
    gap += bound > 0 ? peak / bound : 1;
  }
  EXPECT_LE(gap / kRounds, 1.015);
}

TEST(MemoryPlanner, TheExampleOfMiniMallocFits) {
  // Its README's: lives are exclusive of `upper`.
  const MemoryProblem problem{
      .ranges = {{4, 0, 2}, {4, 3, 8}, {4, 0, 8}, {4, 9, 20}, {4, 0, 20}}};
  EXPECT_LE(Solve(problem, MemorySolver::kAuto).peak, 12);
}

TEST(MemoryPlanner, SolversHaveNames) {
  for (const MemorySolver solver : kAll) {
    EXPECT_EQ(MemorySolverOf(ToString(solver)), solver);
  }
  EXPECT_EQ(MemorySolverOf("best"), std::nullopt);
}

}  // namespace
}  // namespace tim::compiler
