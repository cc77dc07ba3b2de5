// Affine functions of a statement's index variables.
#ifndef TIM_EXPR_AFFINE_H_
#define TIM_EXPR_AFFINE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/status.h"
#include "expr/syntax.h"

namespace tim::expr {

/// A size that is not known.
inline constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::min();

struct Affine {
  std::array<int64_t, kMostVariables> coefficients = {};
  int64_t constant = 0;

  bool IsConstant() const;
  /// The only variable, where it stands alone with coefficient 1; else -1.
  int LoneVariable() const;
  bool operator==(const Affine&) const = default;
};
Affine VariableAlone(int variable);

/// Nothing where a number does not fit 64 bits.
std::optional<Affine> Add(const Affine& a, const Affine& b, int64_t factor);

/// Values of names that are no index variables.
struct Numbers {
  std::vector<int64_t> dimensions;  ///< kUnknownSize: not known.
  /// By attribute: an int is a list of one; others are empty.
  std::vector<std::vector<int64_t>> integers;
};

/// The index or size `root` of a statement whose names are looked up.  Nothing
/// where a dimension of it is not known.  kInvalidArgument: a division by 0,
/// an overflow, an attribute that is too short.
Result<std::optional<Affine>> AffineOf(const Statement& statement, int root,
                                       const Numbers& numbers);

/// First of the nodes that `root` is made of, which end with it.
int FirstNode(const Statement& statement, int root);

}  // namespace tim::expr

#endif  // TIM_EXPR_AFFINE_H_
