// Solvers that place one range after the other into gaps, and their choice.
#include "compiler/memory/memory_planner.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "base/checked_math.h"
#include "compiler/memory/exact_memory.h"

namespace tim::compiler {
namespace {

constexpr size_t kQuadraticLimit = 2000;
// Some milliseconds: every Compile takes them.
constexpr int kAutoPlacements = 20'000;
// How often an order is tried anew, and with at most how many ranges.
constexpr int kRaises = 8;
constexpr size_t kMostRaised = 500;

constexpr std::array<std::pair<const char*, MemorySolver>, 6> kSolvers = {{
    {"none", MemorySolver::kNone},
    {"by_time", MemorySolver::kByTime},
    {"by_size", MemorySolver::kBySize},
    {"somas", MemorySolver::kSomas},
    {"exact", MemorySolver::kExact},
    {"auto", MemorySolver::kAuto},
}};

enum class Gap : uint8_t { kSmallest, kLowest };

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
};

// A place for `bytes` between intervals sorted by begin, or behind the last.
int64_t FindGap(const std::vector<Interval>& taken, int64_t bytes, Gap wanted) {
  int64_t best = -1;
  int64_t best_waste = 0;
  int64_t cursor = 0;
  for (const Interval& interval : taken) {
    const int64_t gap = interval.begin - cursor;
    if (gap >= bytes && (best < 0 || gap - bytes < best_waste)) {
      best = cursor;
      best_waste = gap - bytes;
      if (wanted == Gap::kLowest) break;
    }
    cursor = std::max(cursor, interval.end);
  }
  return best >= 0 ? best : cursor;
}

// What is placed already and may overlap a range.
class Placed {
 public:
  Placed(const MemoryProblem& problem, Gap gap) : problem_(problem), gap_(gap) {
    layout_.offsets.assign(problem.ranges.size(), 0);
  }

  void Place(size_t index) {
    std::vector<Interval> taken;
    for (const size_t other : placed_) {
      if (!problem_.InConflict(index, other)) continue;
      const int64_t begin = layout_.offsets[other];
      taken.push_back({begin, begin + Bytes(other)});
    }
    std::sort(
        taken.begin(), taken.end(),
        [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    const int64_t offset = FindGap(taken, Bytes(index), gap_);
    layout_.offsets[index] = offset;
    layout_.peak = std::max(layout_.peak, offset + Bytes(index));
    placed_.push_back(index);
  }

  // Forgets what ended before `step`; nothing placed later starts earlier.
  void Forget(int step) {
    std::erase_if(placed_, [&](size_t other) {
      return problem_.ranges[other].last_step < step;
    });
  }

  MemoryLayout Take(MemorySolver solver) {
    layout_.solver = solver;
    return std::move(layout_);
  }

 private:
  int64_t Bytes(size_t index) const {
    return AlignUp(problem_.ranges[index].bytes, problem_.alignment);
  }

  const MemoryProblem& problem_;
  const Gap gap_;
  MemoryLayout layout_;
  std::vector<size_t> placed_;
};

std::vector<size_t> Indices(const MemoryProblem& problem) {
  std::vector<size_t> order(problem.ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

// Largest first, of equal ones in their order.
using Key = std::function<double(const MemoryRange&)>;
std::vector<size_t> OrderBy(const MemoryProblem& problem, const Key& key) {
  std::vector<size_t> order = Indices(problem);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return key(problem.ranges[a]) > key(problem.ranges[b]);
  });
  return order;
}

MemoryLayout PlaceInOrder(const MemoryProblem& problem,
                          const std::vector<size_t>& order, Gap gap,
                          MemorySolver solver) {
  Placed placed(problem, gap);
  for (const size_t index : order) placed.Place(index);
  return placed.Take(solver);
}

// Moves the range that ends highest to the front of the order; false where it
// is there.
bool RaiseHighest(const MemoryProblem& problem, const MemoryLayout& layout,
                  std::vector<size_t>* order) {
  const auto end = [&](size_t index) {
    return layout.offsets[index] + problem.ranges[index].bytes;
  };
  const auto highest =
      std::max_element(order->begin(), order->end(),
                       [&](size_t a, size_t b) { return end(a) < end(b); });
  if (highest == order->begin()) return false;
  std::rotate(order->begin(), highest, highest + 1);
  return true;
}

double SizeOf(const MemoryRange& range) {
  return static_cast<double>(range.bytes);
}
double LifeOf(const MemoryRange& range) {
  return static_cast<double>(range.last_step) - range.first_step + 1;
}
double AreaOf(const MemoryRange& range) {
  return SizeOf(range) * LifeOf(range);
}
double StartOf(const MemoryRange& range) {
  return -static_cast<double>(range.first_step);
}

MemoryLayout PlaceApart(const MemoryProblem& problem) {
  MemoryLayout layout;
  for (const MemoryRange& range : problem.ranges) {
    layout.offsets.push_back(layout.peak);
    layout.peak += AlignUp(range.bytes, problem.alignment);
  }
  return layout;
}

// Only ranges that are still live can overlap, so that this one stays fast on
// graphs of any length; other conflicts last.
MemoryLayout PlaceByTime(const MemoryProblem& problem) {
  std::vector<size_t> order = Indices(problem);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return problem.ranges[a].first_step < problem.ranges[b].first_step;
  });
  Placed placed(problem, Gap::kSmallest);
  for (const size_t index : order) {
    if (problem.conflicts.empty()) {
      placed.Forget(problem.ranges[index].first_step);
    }
    placed.Place(index);
  }
  return placed.Take(MemorySolver::kByTime);
}

// Eight orders as they are; then each again, a few times, with the range that
// ended highest in front.
MemoryLayout Somas(const MemoryProblem& problem, int64_t bound) {
  MemoryLayout best;
  for (const int raises : {0, kRaises}) {
    if (raises > 0 && problem.ranges.size() > kMostRaised) break;
    for (const Gap gap : {Gap::kSmallest, Gap::kLowest}) {
      for (const auto& key : {SizeOf, LifeOf, AreaOf, StartOf}) {
        std::vector<size_t> order = OrderBy(problem, key);
        for (int i = 0; i <= raises; ++i) {
          MemoryLayout layout =
              PlaceInOrder(problem, order, gap, MemorySolver::kSomas);
          const bool raised = RaiseHighest(problem, layout, &order);
          if (best.offsets.empty() || layout.peak < best.peak) {
            best = std::move(layout);
          }
          if (best.peak == bound) return best;
          if (!raised) break;
        }
      }
    }
  }
  return best;
}

MemoryLayout Auto(const MemoryProblem& problem, int64_t bound) {
  MemoryLayout best = PlaceByTime(problem);
  const auto improve = [&](MemoryLayout layout) {
    if (layout.peak < best.peak) best = std::move(layout);
    return best.peak == bound;
  };
  if (best.peak == bound) return best;
  if (improve(PlaceInOrder(problem, OrderBy(problem, SizeOf), Gap::kSmallest,
                           MemorySolver::kBySize))) {
    return best;
  }
  if (improve(Somas(problem, bound))) return best;
  MemoryLayout exact = PlaceExactly(problem, best, kAutoPlacements);
  best.proved = exact.proved;
  improve(std::move(exact));
  return best;
}

}  // namespace

bool MemoryProblem::InConflict(size_t a, size_t b) const {
  if (!conflicts.empty()) return conflicts[a * ranges.size() + b];
  return ranges[a].first_step <= ranges[b].last_step &&
         ranges[b].first_step <= ranges[a].last_step;
}

const char* ToString(MemorySolver solver) {
  return kSolvers[static_cast<size_t>(solver)].first;
}

std::optional<MemorySolver> MemorySolverOf(std::string_view name) {
  for (const auto& [known, solver] : kSolvers) {
    if (name == known) return solver;
  }
  return std::nullopt;
}

int64_t MemoryLowerBound(const MemoryProblem& problem) {
  std::map<int64_t, int64_t> change;
  for (const MemoryRange& range : problem.ranges) {
    const int64_t bytes = AlignUp(range.bytes, problem.alignment);
    change[range.first_step] += bytes;
    change[int64_t{range.last_step} + 1] -= bytes;
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [step, bytes] : change) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

MemoryLayout Solve(const MemoryProblem& problem, MemorySolver solver) {
  const int64_t bound = MemoryLowerBound(problem);
  if (solver != MemorySolver::kNone &&
      problem.ranges.size() > kQuadraticLimit) {
    solver = MemorySolver::kByTime;
  }
  MemoryLayout layout;
  switch (solver) {
    case MemorySolver::kNone:
      layout = PlaceApart(problem);
      break;
    case MemorySolver::kByTime:
      layout = PlaceByTime(problem);
      break;
    case MemorySolver::kBySize:
      layout = PlaceInOrder(problem, OrderBy(problem, SizeOf), Gap::kSmallest,
                            MemorySolver::kBySize);
      break;
    case MemorySolver::kSomas:
      layout = Somas(problem, bound);
      break;
    case MemorySolver::kExact:
      layout =
          PlaceExactly(problem, Somas(problem, bound), kMostExactPlacements);
      break;
    case MemorySolver::kAuto:
      layout = Auto(problem, bound);
      break;
  }
  layout.proved = layout.proved || layout.peak == bound;
  return layout;
}

}  // namespace tim::compiler
