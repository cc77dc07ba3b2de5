#include "runtime/executable.h"

#include <utility>

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
  TIM_RETURN_IF_ERROR(executable->PrepareSteps().status());
  TIM_ASSIGN_OR_RETURN(
      executable->constants_,
      UploadConstants(&executable->plan_, executable->devices_));
  return std::shared_ptr<const Executable>(std::move(executable));
}

Result<PreparedSteps> Executable::PrepareSteps() const {
  PreparedSteps prepared(plan_.steps.size());
  for (size_t d = 0; d < devices_.size(); ++d) {
    std::vector<const ir::Action*> actions;
    std::vector<size_t> indices;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (plan_.steps[i].device != static_cast<int>(d)) continue;
      actions.push_back(&plan_.steps[i].action);
      indices.push_back(i);
    }
    if (actions.empty()) continue;
    TIM_ASSIGN_OR_RETURN(PreparedSteps steps,
                         devices_[d]->Prepare(actions, *store_));
    for (size_t i = 0; i < steps.size(); ++i) {
      prepared[indices[i]] = std::move(steps[i]);
    }
  }
  return prepared;
}

}  // namespace tim::runtime
