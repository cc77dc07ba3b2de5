// Mistakes in a plan that has one of everything.
#ifndef TIM_TESTS_SUPPORT_PLANS_PLAN_MISTAKES_H_
#define TIM_TESTS_SUPPORT_PLANS_PLAN_MISTAKES_H_

#include <gtest/gtest.h>

#include <functional>
#include <variant>
#include <vector>

#include "ir/plan.h"
#include "tests/support/plans/whole_plan.h"
#include "tests/support/status_macros.h"

namespace tim::testing {

struct PlanMistake {
  const char* words;  ///< Part of Verify's message.
  std::function<void(ir::Plan&)> make;
};

template <typename T>
T& ActionOf(ir::Plan& plan, int step) {
  return std::get<T>(plan.steps[step].action);
}
template <typename T>
T& Argument(ir::Plan& plan, int step, int index) {
  return std::get<T>(ActionOf<ir::KernelLaunch>(plan, step).arguments[index]);
}
template <typename T>
T& UserArgument(ir::Plan& plan, int step, int index) {
  return std::get<T>(ActionOf<ir::UserLaunch>(plan, step).arguments[index]);
}

/// Each alone, in WholePlan().
inline void ExpectRefused(const std::vector<PlanMistake>& mistakes) {
  for (const PlanMistake& mistake : mistakes) {
    ir::Plan plan = WholePlan();
    mistake.make(plan);
    const Status status = ir::Verify(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << mistake.words;
    EXPECT_ERROR(status, mistake.words);
  }
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PLANS_PLAN_MISTAKES_H_
