// Memory of plans with several streams: it is used again, and never so that a
// step waits for one that it would not follow anyway.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "compiler/memory/memory_planner.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::compiler {
namespace {

using testing::ToyGraph;

Result<ir::Plan> CompileWith(const ToyGraph& toy, int streams,
                             MemorySolver solver) {
  CompileOptions options = testing::ToyOptions();
  options.policy.streams = streams;
  options.policy.memory = solver;
  return toy.Compile(options);
}

// [i][j]: step i begins when step j has ended.
std::vector<std::vector<bool>> OrderOf(const ir::Plan& plan) {
  const size_t count = plan.steps.size();
  std::vector<std::vector<bool>> follows(count, std::vector<bool>(count));
  for (size_t i = 0; i < count; ++i) {
    const auto follow = [&](size_t before) {
      for (size_t j = 0; j < before; ++j) {
        if (follows[before][j]) follows[i][j] = true;
      }
      follows[i][before] = true;
    };
    for (const int wait : plan.steps[i].waits) {
      follow(static_cast<size_t>(wait));
    }
    for (size_t j = 0; j < i; ++j) {
      if (ir::InOneQueue(plan.steps[i], plan.steps[j])) follow(j);
    }
  }
  return follows;
}

bool RunsSideBySide(const ir::Plan& plan) {
  for (const ir::Step& step : plan.steps) {
    if (step.stream > 0) return true;
  }
  return false;
}

TEST(QueueConflicts, BranchesUseTheirMemoryAgain) {
  constexpr int kLength = 12;
  constexpr int64_t kBytes = 4 * 4096;
  ToyGraph toy;
  const ir::ValueId x = toy.Input({4096});
  ir::ValueId ends[2];
  for (ir::ValueId& end : ends) {
    end = x;
    for (int i = 0; i < kLength; ++i) end = toy.Op("Heavy", {end});
  }
  toy.Output(toy.Op("Sum", {ends[0], ends[1]}));
  const auto plan = CompileWith(toy, 2, MemorySolver::kAuto);
  ASSERT_OK(plan);
  EXPECT_TRUE(RunsSideBySide(*plan)) << ir::Dump(*plan);
  EXPECT_GT(plan->memory.no_reuse_sum, 2 * (kLength - 1) * kBytes);
  // Two values of each branch, and one by which planners miss the best.
  EXPECT_LE(plan->memory.peak, 5 * kBytes) << ir::Dump(*plan);
}

// Values of random sizes that read one or two of the last ones.
ToyGraph RandomGraph(std::mt19937& rng) {
  ToyGraph toy;
  const ir::Shape shapes[] = {{512}, {2048}, {4096}};
  for (const ir::Shape& shape : shapes) {
    std::vector<ir::ValueId> values = {toy.Input(shape)};
    for (int i = 0; i < 16; ++i) {
      const auto recent = [&] {
        return values[values.size() - 1 -
                      rng() % std::min<size_t>(values.size(), 6)];
      };
      values.push_back(rng() % 3 == 0 ? toy.Op("Sum", {recent(), recent()})
                                      : toy.Op("Heavy", {recent()}));
    }
    toy.Output(values.back());
    toy.Output(toy.Op("Sum", {values[8], values[12]}));
  }
  return toy;
}

TEST(QueueConflicts, MemoryThatIsUsedAgainAddsNoWait) {
  std::mt19937 rng(42);
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    const ToyGraph toy = RandomGraph(rng);
    for (const int streams : {2, 3}) {
      const auto apart = CompileWith(toy, streams, MemorySolver::kNone);
      ASSERT_OK(apart);
      EXPECT_TRUE(RunsSideBySide(*apart));
      for (const MemorySolver solver :
           {MemorySolver::kByTime, MemorySolver::kSomas, MemorySolver::kAuto}) {
        const auto again = CompileWith(toy, streams, solver);
        ASSERT_OK(again);
        EXPECT_EQ(OrderOf(*again), OrderOf(*apart)) << ToString(solver);
        EXPECT_LT(again->memory.peak, apart->memory.peak);
        EXPECT_GE(again->memory.peak, again->memory.lower_bound);
      }
    }
  }
}

}  // namespace
}  // namespace tim::compiler
