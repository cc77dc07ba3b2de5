// Whether a plan can be run on the devices at hand.
#ifndef TIM_RUNTIME_PLAN_CHECK_H_
#define TIM_RUNTIME_PLAN_CHECK_H_

#include <memory>
#include <span>

#include "base/status.h"
#include "device/device.h"
#include "ir/plan.h"

namespace tim::runtime {

/// What the runtime relies on beyond ir::Verify, which it calls: the devices
/// are those of the plan, indices and sizes fit what they refer to, the
/// caller's tensors are on the host, and steps use their own device's memory.
/// kInvalidArgument: plans may come from files.
Status CheckPlan(const ir::Plan& plan,
                 std::span<const std::shared_ptr<device::Device>> devices);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_PLAN_CHECK_H_
