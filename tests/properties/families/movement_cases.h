// Descriptions of operators that move elements.
#ifndef TIM_TESTS_PROPERTIES_FAMILIES_MOVEMENT_CASES_H_
#define TIM_TESTS_PROPERTIES_FAMILIES_MOVEMENT_CASES_H_

#include <string>
#include <vector>

#include "tests/properties/operator_cases.h"

namespace tim::testing {

/// Elements that stay as they are, of every width, and ones that are converted.
const std::vector<std::string>& MovedTypes();

/// A node of one input and output of these shapes, of a combination of
/// MovedTypes.
NodeCase MovedNode(const std::string& op, ir::AttributeMap attributes,
                   std::vector<int64_t> input, std::vector<int64_t> output,
                   CaseRng& rng);

/// The same of float32, for nodes that are refused.
NodeCase MovedFloats(const std::string& op, ir::AttributeMap attributes,
                     std::vector<int64_t> input, std::vector<int64_t> output);

/// One operation for each element of every output.
double FlopsPerMoved(const NodeCase& node);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_FAMILIES_MOVEMENT_CASES_H_
