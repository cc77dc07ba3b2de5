// Indices for descriptions of operators that choose by them.
#ifndef TIM_TESTS_PROPERTIES_FAMILIES_INDEX_CASES_H_
#define TIM_TESTS_PROPERTIES_FAMILIES_INDEX_CASES_H_

#include <cstdint>
#include <vector>

#include "tests/properties/case_rng.h"
#include "tests/properties/node_case.h"

namespace tim::testing {

/// Indices into axes of these extents, element i into extents[i % size]: most
/// of them inside, counted from either end, some outside.
TensorData RandomIndices(const ir::TensorDesc& desc,
                         const std::vector<int64_t>& extents, CaseRng& rng);

/// Gives input `input` of the node such indices, as a constant or as data.
void SetIndices(int input, const std::vector<int64_t>& extents, NodeCase* node,
                CaseRng& rng);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_FAMILIES_INDEX_CASES_H_
