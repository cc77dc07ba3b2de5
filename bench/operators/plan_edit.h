// Plans made of the steps of others.
#ifndef TIM_BENCH_OPERATORS_PLAN_EDIT_H_
#define TIM_BENCH_OPERATORS_PLAN_EDIT_H_

#include <string_view>

#include "ir/plan.h"

namespace tim::bench {

/// Only the steps whose label names an operation of `type` ("Conv2d"), those of
/// kernels that pack its operands included; what other steps would have
/// written is 0.  No two values share memory.  Constants that only a device
/// keeps get other values.
ir::Plan OnlyOperations(ir::Plan plan, std::string_view type);

/// All steps `times` times in a row, every time with constants of its own.
ir::Plan Repeated(ir::Plan plan, int times);

/// What the steps read and none writes is random, in [-1, 1).
ir::Plan WithRandomInputs(ir::Plan plan);

}  // namespace tim::bench

#endif  // TIM_BENCH_OPERATORS_PLAN_EDIT_H_
