// Descriptions of operators that sum products: convolutions and products of
// matrices.
#ifndef TIM_TESTS_PROPERTIES_SUM_CASES_H_
#define TIM_TESTS_PROPERTIES_SUM_CASES_H_

#include <string>
#include <vector>

#include "tests/properties/operator_cases.h"
#include "tests/support/data/sum_types.h"

namespace tim::testing {

/// Of sums in float in another order than eval's.
inline constexpr Tolerance kSumTolerance = {.absolute = 1e-4, .relative = 1e-5};

struct SumNode {
  std::string op;
  ir::AttributeMap attributes = {};
  SumSizes sizes;
  std::vector<int64_t> output;
};
/// Inputs, weights and perhaps a bias of one of the combinations of types;
/// constant weights and bias as often as not, or always.
NodeCase SumCase(const SumNode& node, bool constant_weights, CaseRng& rng);

/// 2 * `terms` operations for each element of the output.
double SumFlops(const NodeCase& node, int64_t terms);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_SUM_CASES_H_
