// The steps of a plan as they are enqueued: chains as one.
#ifndef TIM_RUNTIME_STEP_GROUPS_H_
#define TIM_RUNTIME_STEP_GROUPS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "ir/plan.h"

namespace tim::runtime {

/// Steps first .. first + count - 1, all of one device.
struct StepGroup {
  size_t first = 0;
  size_t count = 1;
  bool chain = false;  ///< Prepared by Device::PrepareChain.
};

/// All steps of the plan in order, each of its chains a group.
std::vector<StepGroup> GroupSteps(const ir::Plan& plan);

/// What Device::PrepareChain is told of a group.
/// \param work of the plan's steps, as EstimateWork() gives it.
std::vector<device::ChainLink> LinksOf(
    const ir::Plan& plan, const StepGroup& group,
    std::span<const std::optional<double>> work);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STEP_GROUPS_H_
