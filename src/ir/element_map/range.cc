#include "ir/element_map/range.h"

#include <algorithm>

#include "base/checked_math.h"

namespace tim::ir {
namespace {

using Bound = ElementMap::Bound;

// Lowest and highest value of a sum; nothing where they do not fit 64 bits.
class Range {
 public:
  explicit Range(int64_t start) : low_(start), high_(start) {}

  // Plus factor * x, low <= x <= high.
  void Add(int64_t factor, int64_t low, int64_t high) {
    const auto a = CheckedMul(factor, low);
    const auto b = CheckedMul(factor, high);
    if (!a || !b || !low_ || !high_) {
      low_ = high_ = std::nullopt;
      return;
    }
    low_ = CheckedAdd(*low_, std::min(*a, *b));
    high_ = CheckedAdd(*high_, std::max(*a, *b));
  }

  bool known() const { return low_ && high_; }
  int64_t low() const { return *low_; }
  int64_t high() const { return *high_; }

 private:
  std::optional<int64_t> low_;
  std::optional<int64_t> high_;
};

Range BoxRange(int64_t start, const std::vector<int64_t>& steps,
               const std::vector<int64_t>& extents) {
  Range range(start);
  for (size_t k = 0; k < steps.size(); ++k) {
    range.Add(steps[k], 0, extents[k] - 1);
  }
  return range;
}

}  // namespace

std::optional<int64_t> TakeFactor(const std::vector<int64_t>& strides,
                                  std::vector<int64_t>* rest) {
  std::optional<int64_t> factor;
  for (size_t k = 0; k < strides.size(); ++k) {
    const int64_t stride = strides[k];
    if (stride == 0) continue;
    const int64_t value = (*rest)[k];
    // -1 would overflow for the lowest value.
    if (value == 0 || (stride != -1 && value % stride != 0)) {
      return std::nullopt;
    }
    int64_t quotient = 0;
    if (stride != -1) {
      quotient = value / stride;
    } else if (__builtin_sub_overflow(int64_t{0}, value, &quotient)) {
      return std::nullopt;
    }
    if (factor && *factor != quotient) return std::nullopt;
    factor = quotient;
  }
  if (!factor) return std::nullopt;
  for (size_t k = 0; k < strides.size(); ++k) {
    if (strides[k] != 0) (*rest)[k] = 0;
  }
  return factor;
}

bool IsInRange(int64_t start, const std::vector<int64_t>& steps,
               const ElementMap& map, int64_t limit) {
  std::vector<int64_t> rest = steps;
  Range range(start);
  for (const Bound& bound : map.bounds) {
    // Of the coordinate, which is in [0, limit).
    const Range box = BoxRange(bound.start, bound.strides, map.extents);
    if (!box.known()) return false;
    const int64_t low = std::max<int64_t>(box.low(), 0);
    const int64_t high = std::min(box.high(), bound.limit - 1);
    if (low > high) return true;  // Nothing is inside.
    const auto factor = TakeFactor(bound.strides, &rest);
    if (!factor) continue;
    range.Add(*factor, low, high);
    range.Add(*factor, -bound.start, -bound.start);
  }
  for (size_t k = 0; k < rest.size(); ++k) {
    range.Add(rest[k], 0, map.extents[k] - 1);
  }
  return range.known() && range.low() >= 0 && range.high() < limit;
}

}  // namespace tim::ir
