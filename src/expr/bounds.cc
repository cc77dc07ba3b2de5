// Solves rows 0 <= index < limit for the ranges of index variables.
#include "expr/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "expr/functions.h"

namespace tim::expr {
namespace {

// Larger numbers than indices have; sums of some fit 64 bits.
constexpr int64_t kLarge = int64_t{1} << 56;
constexpr Range kOpen = {-kLarge, kLarge};
constexpr int kMostPasses = 16;
constexpr double kTiny = 1e-9;

using Ranges = std::vector<Range>;

bool IsOpen(const Range& range) {
  return range.first <= -kLarge || range.last >= kLarge;
}

// Least and greatest value of an index but for the constant, without variable
// `but`; nothing where a variable in it is open.
std::optional<Range> Spread(const Affine& index, const Ranges& ranges, int but,
                            int begin = 0) {
  __int128 first = 0;
  __int128 last = 0;
  for (int v = begin; v < static_cast<int>(ranges.size()); ++v) {
    const int64_t c = index.coefficients[v];
    if (v == but || c == 0) continue;
    if (IsOpen(ranges[v])) return std::nullopt;
    const __int128 a = static_cast<__int128>(c) * ranges[v].first;
    const __int128 b = static_cast<__int128>(c) * ranges[v].last;
    first += std::min(a, b);
    last += std::max(a, b);
  }
  if (first < -kLarge || last > kLarge) return std::nullopt;
  return Range{static_cast<int64_t>(first), static_cast<int64_t>(last)};
}

// Values of v with lowest <= c * v <= highest.
Range Divide(int64_t lowest, int64_t highest, int64_t c) {
  if (c > 0) return {CeilDivide(lowest, c), FloorDivide(highest, c)};
  return {CeilDivide(-highest, -c), FloorDivide(-lowest, -c)};
}

Range Intersect(const Range& a, const Range& b) {
  return {std::max(a.first, b.first), std::min(a.last, b.last)};
}

bool Tighten(const Row& row, Ranges& ranges) {
  bool changed = false;
  for (int v = 0; v < static_cast<int>(ranges.size()); ++v) {
    const int64_t c = row.index.coefficients[v];
    if (c == 0) continue;
    const std::optional<Range> others = Spread(row.index, ranges, v);
    if (!others) continue;
    const int64_t k = row.index.constant;
    const Range solved =
        Divide(-k - others->last, row.limit - 1 - k - others->first, c);
    const Range range = Intersect(ranges[v], solved);
    if (range.first == ranges[v].first && range.last == ranges[v].last) {
      continue;
    }
    ranges[v] = range;
    changed = true;
    if (range.size() == 0) return true;
  }
  return changed;
}

bool AnyEmpty(const Ranges& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [](const Range& range) { return range.size() == 0; });
}

void TightenAll(const std::vector<Row>& rows, Ranges& ranges) {
  for (int pass = 0; pass < kMostPasses; ++pass) {
    bool changed = false;
    for (const Row& row : rows) {
      changed |= Tighten(row, ranges);
      if (AnyEmpty(ranges)) return;
    }
    if (!changed) return;
  }
}

// A sum of rows with factors, in floats: coefficients and what it lies between.
struct Combination {
  std::array<double, kMostVariables> coefficients = {};
  double lowest = 0;
  double highest = 0;

  void Subtract(const Combination& other, double factor) {
    for (int v = 0; v < kMostVariables; ++v) {
      coefficients[v] -= factor * other.coefficients[v];
      if (std::fabs(coefficients[v]) < kTiny) coefficients[v] = 0;
    }
    const double low = factor * other.lowest;
    const double high = factor * other.highest;
    lowest -= std::max(low, high);
    highest -= std::min(low, high);
  }
};

// Bounds of variables that no row bounds by itself, by elimination.  They are
// wider than need be: rounding errors of floats, and one more, are in.
void BoundByElimination(const std::vector<Row>& rows, Ranges& ranges) {
  const int count = static_cast<int>(ranges.size());
  std::vector<Combination> reduced;
  std::vector<int> pivots;
  for (const Row& row : rows) {
    Combination next;
    for (int v = 0; v < count; ++v) {
      next.coefficients[v] = static_cast<double>(row.index.coefficients[v]);
    }
    next.lowest = -static_cast<double>(row.index.constant);
    next.highest = next.lowest + static_cast<double>(row.limit) - 1;
    for (size_t i = 0; i < reduced.size(); ++i) {
      next.Subtract(reduced[i], next.coefficients[pivots[i]] /
                                    reduced[i].coefficients[pivots[i]]);
    }
    const auto pivot =
        std::find_if(next.coefficients.begin(), next.coefficients.end(),
                     [](double c) { return c != 0; });
    if (pivot == next.coefficients.end()) continue;
    const int at = static_cast<int>(pivot - next.coefficients.begin());
    for (Combination& other : reduced) {
      other.Subtract(next, other.coefficients[at] / next.coefficients[at]);
    }
    reduced.push_back(next);
    pivots.push_back(at);
  }
  for (size_t i = 0; i < reduced.size(); ++i) {
    const auto& c = reduced[i].coefficients;
    if (std::count(c.begin(), c.end(), 0.0) != kMostVariables - 1) continue;
    const double a = reduced[i].lowest / c[pivots[i]];
    const double b = reduced[i].highest / c[pivots[i]];
    if (std::max(std::fabs(a), std::fabs(b)) > 0x1p40) continue;
    const Range wide = {static_cast<int64_t>(std::floor(std::min(a, b))) - 1,
                        static_cast<int64_t>(std::ceil(std::max(a, b))) + 1};
    ranges[pivots[i]] = Intersect(ranges[pivots[i]], wide);
  }
}

}  // namespace

int64_t CeilDivide(int64_t a, int64_t b) { return -FloorDivide(-a, b); }

RowSpace::Vector RowSpace::Reduced(Vector vector) const {
  for (size_t i = 0; i < basis_.size(); ++i) {
    const double factor = vector[pivots_[i]] / basis_[i][pivots_[i]];
    for (int v = 0; v < kMostVariables; ++v) {
      vector[v] -= factor * basis_[i][v];
      if (std::fabs(vector[v]) < kTiny) vector[v] = 0;
    }
  }
  return vector;
}

void RowSpace::Add(const Affine& index) {
  Vector vector = {};
  double largest = 0;
  for (int v = 0; v < kMostVariables; ++v) {
    vector[v] = static_cast<double>(index.coefficients[v]);
    largest = std::max(largest, std::fabs(vector[v]));
  }
  if (largest == 0) return;
  for (double& c : vector) c /= largest;
  vector = Reduced(vector);
  const auto pivot = std::find_if(vector.begin(), vector.end(),
                                  [](double c) { return c != 0; });
  if (pivot == vector.end()) return;
  const int at = static_cast<int>(pivot - vector.begin());
  for (Vector& other : basis_) {
    const double factor = other[at] / vector[at];
    for (int v = 0; v < kMostVariables; ++v) {
      other[v] -= factor * vector[v];
      if (std::fabs(other[v]) < kTiny) other[v] = 0;
    }
  }
  basis_.push_back(vector);
  pivots_.push_back(at);
}

bool RowSpace::Bounds(int variable) const {
  Vector unit = {};
  unit[variable] = 1;
  return Reduced(unit) == Vector{};
}

Status CheckSizes(const std::vector<Row>& rows, const Ranges& ranges) {
  for (const Row& row : rows) {
    const std::optional<Range> spread = Spread(row.index, ranges, -1);
    if (!spread || std::abs(row.index.constant) > kLarge) {
      return InvalidArgument("an index overflows");
    }
  }
  return OkStatus();
}

Result<std::vector<Range>> SolveRanges(const std::vector<Row>& rows,
                                       int count) {
  Ranges ranges(count, kOpen);
  for (const Row& row : rows) {
    const int64_t k = row.index.constant;
    const bool holds = k >= 0 && k < row.limit;
    if (row.limit <= 0 || (row.index.IsConstant() && !holds)) {
      return Ranges(count);
    }
    if (std::abs(k) > kLarge || row.limit > kLarge) {
      return InvalidArgument("an index overflows");
    }
  }
  TightenAll(rows, ranges);
  if (!AnyEmpty(ranges) && std::any_of(ranges.begin(), ranges.end(), IsOpen)) {
    BoundByElimination(rows, ranges);
    TightenAll(rows, ranges);
  }
  if (AnyEmpty(ranges)) return Ranges(count);
  if (std::any_of(ranges.begin(), ranges.end(), IsOpen)) {
    return InvalidArgument(
        "an index variable has no bound: with these attributes and extents its "
        "coefficients are 0");
  }
  return ranges;
}

LoopPlan PlanLoops(const std::vector<Row>& rows,
                   const std::vector<Range>& ranges, int left) {
  const int count = static_cast<int>(ranges.size());
  LoopPlan plan;
  for (int v = left; v < count; ++v) plan.loops.push_back({ranges[v], {}});
  for (const Row& row : rows) {
    const auto& c = row.index.coefficients;
    int first = count;  // The first and the last variable that loops.
    int last = -1;
    bool of_left = false;
    for (int v = 0; v < count; ++v) {
      if (c[v] == 0) continue;
      if (v < left) {
        of_left = true;
      } else {
        first = std::min(first, v);
        last = v;
      }
    }
    if (last < 0) {
      // Where one variable stands alone its range says it.
      const std::optional<Range> spread = Spread(row.index, ranges, -1);
      const int64_t k = row.index.constant;
      if (!spread || k + spread->first < 0 || k + spread->last >= row.limit) {
        plan.guards.push_back(row);
      }
      continue;
    }
    for (int v = first; v <= last; ++v) {
      if (c[v] == 0) continue;
      // Before v nothing varies: the range has it.
      if (v == first && !of_left) continue;
      const std::optional<Range> inner = Spread(row.index, ranges, v, v);
      if (!inner) continue;
      LoopBound bound{.rest = row.index,
                      .coefficient = c[v],
                      .lowest = -inner->last,
                      .highest = row.limit - 1 - inner->first};
      for (int u = v; u < count; ++u) bound.rest.coefficients[u] = 0;
      plan.loops[v - left].bounds.push_back(bound);
    }
  }
  return plan;
}

}  // namespace tim::expr
