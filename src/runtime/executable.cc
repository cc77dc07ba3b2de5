#include "runtime/executable.h"

#include <utility>

#include "base/log.h"
#include "runtime/constant_upload.h"
#include "runtime/plan_check.h"

namespace tim::runtime {
namespace {

using PreparedSteps = std::vector<std::unique_ptr<device::PreparedStep>>;

}  // namespace

Result<std::shared_ptr<const Executable>> Executable::Create(
    ir::Plan plan, std::vector<std::shared_ptr<device::Device>> devices,
    std::shared_ptr<device::BinaryStore> store) {
  std::shared_ptr<Executable> executable(new Executable());
  executable->plan_ = std::move(plan);
  executable->devices_ = std::move(devices);
  executable->store_ = std::move(store);
  TIM_RETURN_IF_ERROR(CheckPlan(executable->plan_, executable->devices_));
  // Devices keep programs: what is prepared here is cheap to prepare again.
  executable->order_ = OrderSteps(executable->plan_, executable->devices_);
  executable->groups_ =
      GroupSteps(executable->plan_, executable->devices_, executable->order_);
  for (const StepGroup& group : executable->groups_) {
    TIM_LOG(kDebug, group.count, " steps in one launch, the first is '",
            executable->plan_.steps[group.first].label, "'");
  }
  TIM_RETURN_IF_ERROR(executable->PrepareGroups().status());
  TIM_ASSIGN_OR_RETURN(
      executable->constants_,
      UploadConstants(&executable->plan_, executable->devices_));
  return std::shared_ptr<const Executable>(std::move(executable));
}

Status Executable::PrepareSingles(int device, PreparedSteps* prepared) const {
  std::vector<const ir::Action*> actions;
  std::vector<size_t> groups;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const ir::Step& step = plan_.steps[groups_[i].first];
    if (step.device != device || groups_[i].chain) continue;
    actions.push_back(&step.action);
    groups.push_back(i);
  }
  if (actions.empty()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(PreparedSteps steps,
                       devices_[device]->Prepare(actions, *store_));
  for (size_t i = 0; i < steps.size(); ++i) {
    (*prepared)[groups[i]] = std::move(steps[i]);
  }
  return OkStatus();
}

Result<PreparedSteps> Executable::PrepareGroups() const {
  PreparedSteps prepared(groups_.size());
  for (size_t d = 0; d < devices_.size(); ++d) {
    TIM_RETURN_IF_ERROR(PrepareSingles(static_cast<int>(d), &prepared));
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].chain) continue;
    device::Device& device = *devices_[plan_.steps[groups_[i].first].device];
    TIM_ASSIGN_OR_RETURN(
        prepared[i], device.PrepareChain(LinksOf(plan_, groups_[i]), *store_));
  }
  return prepared;
}

}  // namespace tim::runtime
