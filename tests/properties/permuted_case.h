// A case's node and data on operands whose axes have moved.
#ifndef TIM_TESTS_PROPERTIES_PERMUTED_CASE_H_
#define TIM_TESTS_PROPERTIES_PERMUTED_CASE_H_

#include <vector>

#include "ir/permuted_node.h"
#include "tests/properties/node_case.h"

namespace tim::testing {

/// Elements of whole bytes.  New axis i is old axis p[i]; a permutation that is
/// longer than the rank finds extents of 1, a shorter one leaves the rest.
TensorData PermutedData(const TensorData& tensor, const ir::Permutation& p);

/// The node that the answer describes, with its constants and given values.
NodeCase PermutedCase(const NodeCase& node, const ir::PermutedNode& answer);

/// `inputs`, which are CaseInputs(node), as that node takes them.
std::vector<TensorData> PermutedInputs(const NodeCase& node,
                                       const std::vector<TensorData>& inputs,
                                       const ir::PermutedNode& answer);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_PERMUTED_CASE_H_
