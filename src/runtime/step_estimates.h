// How long the steps of a plan take, as it was estimated when it was made.
#ifndef TIM_RUNTIME_STEP_ESTIMATES_H_
#define TIM_RUNTIME_STEP_ESTIMATES_H_

#include <optional>
#include <vector>

#include "ir/plan.h"

namespace tim::runtime {

/// Microseconds that the chosen kernel was estimated to take; none where the
/// decision tells no cost.
std::optional<double> CostOf(const ir::Decision& decision);

/// Microseconds of each step, more than 0: its part of what was estimated for
/// its node (Plan::decisions), where a node has several steps by the bytes that
/// they touch; of other steps, as copies, what their bytes take the device.
std::vector<double> EstimateSteps(const ir::Plan& plan);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STEP_ESTIMATES_H_
