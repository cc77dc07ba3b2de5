// How long the steps of a plan take, as it was estimated when it was made.
#ifndef TIM_RUNTIME_STEP_ESTIMATES_H_
#define TIM_RUNTIME_STEP_ESTIMATES_H_

#include <optional>
#include <string_view>
#include <vector>

#include "ir/plan.h"

namespace tim::runtime {

/// Begins Decision::chosen where an operator stands for several nodes, which
/// the compiler recognized; its name follows.
inline constexpr std::string_view kRecognized = "recognized: ";

/// True for a decision that names an operator and not a kernel.  Its node is
/// also that of the decision which names the kernel.
inline bool IsRecognized(const ir::Decision& decision) {
  return decision.chosen.starts_with(kRecognized);
}

/// Microseconds that the chosen kernel was estimated to take; none where the
/// decision tells no cost.
std::optional<double> CostOf(const ir::Decision& decision);

/// Microseconds of each step, more than 0: its part of what was estimated for
/// its node (Plan::decisions), where a node has several steps by the bytes that
/// they touch; of other steps, as copies, what their bytes take the device.
std::vector<double> EstimateSteps(const ir::Plan& plan);

/// Microseconds of each step without launches: the cost of a node holds one
/// launch.  None where nothing was estimated.
std::vector<std::optional<double>> EstimateWork(const ir::Plan& plan);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STEP_ESTIMATES_H_
