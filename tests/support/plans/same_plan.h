// Whether two plans say the same.
#ifndef TIM_TESTS_SUPPORT_PLANS_SAME_PLAN_H_
#define TIM_TESTS_SUPPORT_PLANS_SAME_PLAN_H_

#include "ir/plan.h"

namespace tim::testing {

/// In every field, the bytes of constants included.
void ExpectSamePlan(const ir::Plan& expected, const ir::Plan& actual);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_PLANS_SAME_PLAN_H_
