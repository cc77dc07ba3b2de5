#include "ir/plan.h"
#include "ir/verify/checks.h"

namespace tim::ir {
namespace {

Status CheckSteps(const Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    Status status = CheckStep(plan, i);
    if (status.ok()) status = CheckAction(plan, step);
    if (!status.ok()) {
      return status.WithContext(StrCat("step ", i, " '", step.label, "'"));
    }
  }
  return OkStatus();
}

Status VerifyParts(const Plan& plan) {
  TIM_RETURN_IF_ERROR(CheckMemory(plan));
  TIM_RETURN_IF_ERROR(CheckSlots(plan));
  TIM_RETURN_IF_ERROR(CheckSteps(plan));
  TIM_RETURN_IF_ERROR(CheckChains(plan));
  TIM_RETURN_IF_ERROR(CheckOverlaps(plan));
  return CheckQueueOrder(plan);
}

}  // namespace

Status Verify(const Plan& plan) {
  return VerifyParts(plan).WithContext("plan");
}

}  // namespace tim::ir
