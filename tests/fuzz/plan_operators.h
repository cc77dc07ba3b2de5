// Operators of the bodies in fuzzed plans.
#ifndef TIM_TESTS_FUZZ_PLAN_OPERATORS_H_
#define TIM_TESTS_FUZZ_PLAN_OPERATORS_H_

#include "ir/op_registry.h"

namespace tim::testing {

/// fuzz.Inner, from one or two inputs to an output.
const ir::OpRegistry& BodyOperators();

}  // namespace tim::testing

#endif  // TIM_TESTS_FUZZ_PLAN_OPERATORS_H_
