#include "runtime/step_order.h"

namespace tim::runtime {

std::vector<StepOrder> OrderSteps(
    const ir::Plan& plan,
    std::span<const std::shared_ptr<device::Device>> devices) {
  std::vector<StepOrder> order(plan.steps.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const int device = plan.steps[i].device;
    for (const int wait : plan.steps[i].waits) {
      const int other = plan.steps[wait].device;
      if (ir::InOneQueue(plan.steps[i], plan.steps[wait])) continue;
      const bool same_domain =
          devices[device]->domain() == devices[other]->domain();
      order[wait].record = true;
      (same_domain ? order[i].stream_waits : order[i].host_waits)
          .push_back(wait);
    }
  }
  return order;
}

}  // namespace tim::runtime
