// Which steps of a plan are enqueued as one.
#ifndef TIM_RUNTIME_STEP_GROUPS_H_
#define TIM_RUNTIME_STEP_GROUPS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "ir/plan.h"
#include "runtime/step_order.h"

namespace tim::runtime {

/// Steps first .. first + count - 1, all of one device.
struct StepGroup {
  size_t first = 0;
  size_t count = 1;
  /// Prepared by Device::PrepareChain: several steps, or the only one of a run
  /// where Device::ChainsSingles().
  bool chain = false;
};

/// All steps in order; `order` is that of OrderSteps().  Within a group no step
/// but the first waits for other devices, and none of them for a step but the
/// last.
std::vector<StepGroup> GroupSteps(
    const ir::Plan& plan,
    std::span<const std::shared_ptr<device::Device>> devices,
    std::span<const StepOrder> order);

/// What Device::PrepareChain is told of a group.
std::vector<device::ChainLink> LinksOf(const ir::Plan& plan,
                                       const StepGroup& group);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STEP_GROUPS_H_
