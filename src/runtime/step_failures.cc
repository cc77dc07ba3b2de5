#include "runtime/step_failures.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "base/log_once.h"
#include "ir/part_names.h"

namespace tim::runtime {
namespace {

bool IsBuiltin(const ir::Step& step) {
  return !step.kernel.empty() &&
         !std::holds_alternative<ir::UserLaunch>(step.action);
}

// kInternal is a mistake of the library, which no other kernel should hide.
bool IsOfKernel(StatusCode code) {
  return code == StatusCode::kBuildFailure ||
         code == StatusCode::kInvalidArgument ||
         code == StatusCode::kUnimplemented;
}

bool SameKernel(const ir::Step& a, const ir::Step& b) {
  return a.device == b.device && a.kernel == b.kernel;
}

}  // namespace

bool StepFailures::Keep(const ir::Plan& plan, size_t step,
                        const Status& failure) {
  if (!IsBuiltin(plan.steps[step]) || !IsOfKernel(failure.code())) return false;
  failures_.emplace(step, failure);
  return true;
}

std::vector<compiler::RefusedKernel> StepFailures::Refused(
    const ir::Plan& plan) const {
  std::vector<compiler::RefusedKernel> refused;
  for (const auto& [index, failure] : failures_) {
    const ir::Step& step = plan.steps[index];
    // What a device says of one part tells nothing of others.
    bool everywhere = !ir::IsPartKernel(step.kernel);
    for (size_t i = 0; i < plan.steps.size() && everywhere; ++i) {
      everywhere = !SameKernel(plan.steps[i], step) ||
                   plan.steps[i].label == step.label || failures_.contains(i);
    }
    const std::string reason = failure.ToString();
    refused.push_back({.device = step.device,
                       .kernel = step.kernel,
                       .node = everywhere ? "" : step.label,
                       .reason = reason.substr(0, reason.find('\n'))});
    TIM_LOG_ONCE(kWarning, plan.devices[step.device].name,
                 " cannot run the kernel ", step.kernel,
                 ", and another takes its place: ", reason);
  }
  return refused;
}

}  // namespace tim::runtime
