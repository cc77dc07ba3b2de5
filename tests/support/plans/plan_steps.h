// What the steps of a plan are.
#ifndef TIM_TESTS_SUPPORT_PLANS_PLAN_STEPS_H_
#define TIM_TESTS_SUPPORT_PLANS_PLAN_STEPS_H_

#include <string>
#include <string_view>
#include <variant>

#include "ir/plan.h"

namespace tim::testing {

/// Launches of kernels of this file, "ops/movement/reorder.cl", whose options
/// have `option` in them.
inline int CountSource(const ir::Plan& plan, std::string_view source,
                       std::string_view option = "") {
  int count = 0;
  for (const ir::Step& step : plan.steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    count += launch != nullptr && launch->source == source &&
             launch->options.find(option) != std::string::npos;
  }
  return count;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PLANS_PLAN_STEPS_H_
