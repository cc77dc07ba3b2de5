#include "compiler/memory/memory_planner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/checked_math.h"

namespace tim::compiler {
namespace {

bool LiveTogether(const MemoryRange& a, const MemoryRange& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
};

// Where `bytes` fit between intervals sorted by begin: the smallest gap, or
// behind the last.
int64_t FindGap(const std::vector<Interval>& taken, int64_t bytes) {
  int64_t best = -1;
  int64_t best_waste = 0;
  int64_t cursor = 0;
  for (const Interval& interval : taken) {
    const int64_t gap = interval.begin - cursor;
    if (gap >= bytes && (best < 0 || gap - bytes < best_waste)) {
      best = cursor;
      best_waste = gap - bytes;
    }
    cursor = std::max(cursor, interval.end);
  }
  return best >= 0 ? best : cursor;
}

// What is placed already and may overlap a range.
class Placed {
 public:
  Placed(const std::vector<MemoryRange>& ranges, int64_t alignment)
      : ranges_(ranges), alignment_(alignment) {
    layout_.offsets.assign(ranges.size(), 0);
  }

  void Place(int index) {
    std::vector<Interval> taken;
    for (const int other : placed_) {
      if (!LiveTogether(ranges_[index], ranges_[other])) continue;
      const int64_t begin = layout_.offsets[other];
      taken.push_back({begin, begin + Bytes(other)});
    }
    std::sort(
        taken.begin(), taken.end(),
        [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    const int64_t offset = FindGap(taken, Bytes(index));
    layout_.offsets[index] = offset;
    layout_.peak = std::max(layout_.peak, offset + Bytes(index));
    placed_.push_back(index);
  }

  // Forgets what ended before `step`; nothing placed later starts earlier.
  void Forget(int step) {
    std::erase_if(placed_,
                  [&](int other) { return ranges_[other].last_step < step; });
  }

  MemoryLayout Take() { return std::move(layout_); }

 private:
  int64_t Bytes(int index) const {
    return AlignUp(ranges_[index].bytes, alignment_);
  }

  const std::vector<MemoryRange>& ranges_;
  int64_t alignment_;
  MemoryLayout layout_;
  std::vector<int> placed_;
};

std::vector<int> Indices(const std::vector<MemoryRange>& ranges) {
  std::vector<int> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

int64_t MemoryLowerBound(const std::vector<MemoryRange>& ranges,
                         int64_t alignment) {
  std::map<int, int64_t> change;
  for (const MemoryRange& range : ranges) {
    change[range.first_step] += AlignUp(range.bytes, alignment);
    change[range.last_step + 1] -= AlignUp(range.bytes, alignment);
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [step, bytes] : change) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

MemoryLayout PlaceBySize(const std::vector<MemoryRange>& ranges,
                         int64_t alignment) {
  std::vector<int> order = Indices(ranges);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(-ranges[a].bytes, a) < std::pair(-ranges[b].bytes, b);
  });
  Placed placed(ranges, alignment);
  for (const int index : order) placed.Place(index);
  return placed.Take();
}

// Only ranges that are still live can overlap, so this one stays fast on
// graphs of any length.
MemoryLayout PlaceByTime(const std::vector<MemoryRange>& ranges,
                         int64_t alignment) {
  std::vector<int> order = Indices(ranges);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(ranges[a].first_step, a) <
           std::pair(ranges[b].first_step, b);
  });
  Placed placed(ranges, alignment);
  for (const int index : order) {
    placed.Forget(ranges[index].first_step);
    placed.Place(index);
  }
  return placed.Take();
}

MemoryLayout PlaceBest(const std::vector<MemoryRange>& ranges,
                       int64_t alignment) {
  constexpr size_t kQuadraticLimit = 2000;
  MemoryLayout best = PlaceByTime(ranges, alignment);
  if (ranges.size() > kQuadraticLimit ||
      best.peak == MemoryLowerBound(ranges, alignment)) {
    return best;
  }
  MemoryLayout by_size = PlaceBySize(ranges, alignment);
  return by_size.peak < best.peak ? by_size : best;
}

}  // namespace tim::compiler
