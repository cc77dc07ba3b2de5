// Ranges of index variables, solved from accesses and constraints.
#ifndef TIM_EXPR_BOUNDS_H_
#define TIM_EXPR_BOUNDS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "expr/affine.h"

namespace tim::expr {

/// 0 <= index < limit
struct Row {
  Affine index;
  int64_t limit = 1;
  bool operator==(const Row&) const = default;
};

/// Both ends belong to it; nothing where first > last.
struct Range {
  int64_t first = 0;
  int64_t last = -1;
  int64_t size() const { return last < first ? 0 : last - first + 1; }
};

/// Which variables rows bound, from both sides: as many of them as their
/// coefficients, taken as vectors, make up.
class RowSpace {
 public:
  void Add(const Affine& index);
  bool Bounds(int variable) const;

 private:
  using Vector = std::array<double, kMostVariables>;
  Vector Reduced(Vector vector) const;

  std::vector<Vector> basis_;  // Each with its pivot, where others have 0.
  std::vector<int> pivots_;
};

/// Ranges of `count` variables that hold every solution of `rows`, and may hold
/// more.  All are empty where there is none.  kInvalidArgument where a variable
/// has no bound, or numbers are too large.
Result<std::vector<Range>> SolveRanges(const std::vector<Row>& rows, int count);

/// kInvalidArgument where an index may leave the numbers that loops compute in.
Status CheckSizes(const std::vector<Row>& rows,
                  const std::vector<Range>& ranges);

/// lowest <= coefficient * v + rest <= highest, `rest` of variables before v.
struct LoopBound {
  Affine rest;
  int64_t coefficient = 1;
  int64_t lowest = 0;
  int64_t highest = 0;
};

/// The values of a variable, given those of all before it.
struct Loop {
  Range range;
  std::vector<LoopBound> bounds;  ///< Beside the range.
};

/// How the solutions are visited, the last variable fastest.  `ranges` are
/// those of SolveRanges(), but for the first `left` variables all that they
/// take.
struct LoopPlan {
  std::vector<Row> guards;  ///< Of the first `left` variables alone.
  std::vector<Loop> loops;  ///< Of the others.
};
LoopPlan PlanLoops(const std::vector<Row>& rows,
                   const std::vector<Range>& ranges, int left);

/// a / b rounded up; b > 0.
int64_t CeilDivide(int64_t a, int64_t b);

}  // namespace tim::expr

#endif  // TIM_EXPR_BOUNDS_H_
