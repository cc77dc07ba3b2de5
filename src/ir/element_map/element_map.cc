#include "ir/element_map/element_map.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "ir/element_map/compose.h"
#include "ir/element_map/range.h"

namespace tim::ir {
namespace {

using Bound = ElementMap::Bound;
using Ints = std::vector<int64_t>;

// Sums of the magnitudes of start and steps: no sum of some of them is larger.
bool SpanFits(int64_t start, const Ints& strides, const Ints& extents) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  if (start == kLowest) return false;
  std::optional<int64_t> span = start < 0 ? -start : start;
  for (size_t k = 0; k < strides.size() && span; ++k) {
    if (strides[k] == kLowest) return false;
    const int64_t stride = strides[k] < 0 ? -strides[k] : strides[k];
    const auto steps = CheckedMul(stride, extents[k]);
    span = steps ? CheckedAdd(*span, *steps) : std::nullopt;
  }
  return span.has_value();
}

int64_t At(int64_t start, const Ints& strides, const Ints& extents, int64_t i) {
  for (size_t k = 0; k < strides.size(); ++k) {
    start += i % extents[k] * strides[k];
    i /= extents[k];
  }
  return start;
}

bool AlwaysHolds(const Bound& bound, const ElementMap& map) {
  ElementMap box;
  box.extents = map.extents;
  return IsInRange(bound.start, bound.strides, box, bound.limit);
}

// Both of the same strides: 0 <= start + x < limit.
Bound Intersection(const Bound& a, const Bound& b) {
  Bound out = a;
  out.start = std::min(a.start, b.start);
  const int64_t end = std::min(a.limit - a.start, b.limit - b.start);
  out.limit = std::max<int64_t>(end + out.start, 0);
  return out;
}

void AddBound(const Bound& bound, std::vector<Bound>* bounds) {
  for (Bound& other : *bounds) {
    if (other.strides != bound.strides) continue;
    other = Intersection(other, bound);
    return;
  }
  bounds->push_back(bound);
}

// Whether loop k begins, in every list of strides, where `extent` steps of the
// last loop of `out` end.
bool Continues(const ElementMap& out, const ElementMap& map, size_t k) {
  const int64_t extent = out.extents.back();
  if (map.strides[k] != out.strides.back() * extent) return false;
  for (size_t b = 0; b < map.bounds.size(); ++b) {
    const int64_t last = out.bounds[b].strides.back();
    if (map.bounds[b].strides[k] != last * extent) return false;
  }
  return true;
}

void AddLoop(int64_t extent, const ElementMap& map, size_t k, int64_t scale,
             ElementMap* out) {
  out->extents.push_back(extent);
  out->strides.push_back(map.strides[k] * scale);
  for (size_t b = 0; b < map.bounds.size(); ++b) {
    out->bounds[b].strides.push_back(map.bounds[b].strides[k] * scale);
  }
}

// The map without loops.
ElementMap WithoutLoops(const ElementMap& map) {
  ElementMap out;
  out.start = map.start;
  for (const Bound& bound : map.bounds) {
    out.bounds.push_back({bound.start, bound.limit, {}});
  }
  return out;
}

}  // namespace

bool IsWellFormed(const ElementMap& map) {
  const size_t loops = map.extents.size();
  std::optional<int64_t> count = 1;
  for (const int64_t extent : map.extents) {
    if (extent < 1) return false;
    count = CheckedMul(*count, extent);
    if (!count) return false;
  }
  if (map.strides.size() != loops ||
      !SpanFits(map.start, map.strides, map.extents)) {
    return false;
  }
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;
  return std::all_of(map.bounds.begin(), map.bounds.end(), [&](const Bound& b) {
    return b.strides.size() == loops && b.limit >= 0 && b.limit <= kMost &&
           b.start >= -kMost && b.start <= kMost &&
           SpanFits(b.start, b.strides, map.extents);
  });
}

int64_t ElementCount(const ElementMap& map) {
  int64_t count = 1;
  for (const int64_t extent : map.extents) count *= extent;
  return count;
}

int64_t SourceOf(const ElementMap& map, int64_t i) {
  for (const Bound& bound : map.bounds) {
    const int64_t at = At(bound.start, bound.strides, map.extents, i);
    if (at < 0 || at >= bound.limit) return -1;
  }
  return At(map.start, map.strides, map.extents, i);
}

ElementMap Joined(const ElementMap& map) {
  ElementMap needed = map;
  needed.bounds.clear();
  for (const Bound& bound : map.bounds) {
    if (!AlwaysHolds(bound, map)) AddBound(bound, &needed.bounds);
  }
  ElementMap out = WithoutLoops(needed);
  for (size_t k = 0; k < needed.extents.size(); ++k) {
    if (needed.extents[k] == 1) continue;
    if (!out.extents.empty() && Continues(out, needed, k)) {
      out.extents.back() *= needed.extents[k];
    } else {
      AddLoop(needed.extents[k], needed, k, 1, &out);
    }
  }
  if (!out.extents.empty()) return out;
  out.extents = {1};
  out.strides = {0};
  for (Bound& bound : out.bounds) bound.strides = {0};
  return out;
}

std::optional<ElementMap> SplitAt(const ElementMap& map, int64_t place) {
  ElementMap out = WithoutLoops(map);
  int64_t before = 1;
  for (size_t k = 0; k < map.extents.size(); ++k) {
    const int64_t extent = map.extents[k];
    const int64_t inner = place / before;
    if (place <= before || inner >= extent) {
      AddLoop(extent, map, k, 1, &out);
    } else if (place % before != 0 || extent % inner != 0) {
      return std::nullopt;
    } else {
      AddLoop(inner, map, k, 1, &out);
      AddLoop(extent / inner, map, k, inner, &out);
    }
    before *= extent;
  }
  return out;
}

bool StaysInside(const ElementMap& map, int64_t count) {
  return IsInRange(map.start, map.strides, map, count);
}

bool IsIdentity(const ElementMap& map) {
  const ElementMap joined = Joined(map);
  return joined.start == 0 && joined.bounds.empty() &&
         joined.extents.size() == 1 &&
         (joined.extents[0] == 1 || joined.strides[0] == 1);
}

}  // namespace tim::ir
