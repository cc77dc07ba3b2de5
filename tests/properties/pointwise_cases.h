// Descriptions of operators that work element by element.
#ifndef TIM_TESTS_PROPERTIES_POINTWISE_CASES_H_
#define TIM_TESTS_PROPERTIES_POINTWISE_CASES_H_

#include <map>
#include <string>
#include <vector>

#include "tests/properties/operator_cases.h"

namespace tim::testing {

/// Attributes by name, each with the numbers that it may have.
using NumberAttributes = std::map<std::string, std::vector<double>>;

/// y = f(x), on every combination of numbers.  `flops` of one element.
OperatorCases UnaryCases(const std::string& op, double flops,
                         std::vector<Shell> shells,
                         NumberAttributes attributes = {});
/// y = f(a, b) with broadcasting.
OperatorCases BinaryCases(const std::string& op, double flops,
                          std::vector<Shell> shells);

/// Input and output of any shape, of these combinations of types.
NodeCase UnaryNode(const std::string& op, const std::vector<std::string>& types,
                   CaseRng& rng);
NodeCase BinaryNode(const std::string& op, CaseRng& rng);

/// The shape of an element-wise operator's output.
std::vector<int64_t> BroadcastOf(const std::vector<int64_t>& a,
                                 const std::vector<int64_t>& b);

/// What operators of `inputs` operands refuse in the same way: missing and
/// surplus operands, attributes that they have not.
std::vector<IllegalCase> IllegalOperands(const NodeCase& legal);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_POINTWISE_CASES_H_
