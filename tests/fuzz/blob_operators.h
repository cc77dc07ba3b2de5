// Operators of fuzzed graphs: names, arities and attributes are all they have.
#ifndef TIM_TESTS_FUZZ_BLOB_OPERATORS_H_
#define TIM_TESTS_FUZZ_BLOB_OPERATORS_H_

#include "ir/op_registry.h"

namespace tim::testing {

/// fuzz.Any, with any operands and an attribute of every type, and fuzz.One,
/// from one or two inputs to an output.
const ir::OpRegistry& FuzzOperators();

}  // namespace tim::testing

#endif  // TIM_TESTS_FUZZ_BLOB_OPERATORS_H_
