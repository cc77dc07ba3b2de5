#include "runtime/step_order.h"

namespace tim::runtime {

std::vector<StepOrder> OrderSteps(const Executable& executable) {
  const ir::Plan& plan = executable.plan();
  std::vector<StepOrder> order(plan.steps.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const int device = plan.steps[i].device;
    for (const int wait : plan.steps[i].waits) {
      const int other = plan.steps[wait].device;
      if (other == device) continue;
      const bool same_domain = executable.device(device).domain() ==
                               executable.device(other).domain();
      order[wait].record = true;
      (same_domain ? order[i].stream_waits : order[i].host_waits)
          .push_back(wait);
    }
  }
  return order;
}

}  // namespace tim::runtime
