// Graph::Profile().
#include <utility>

#include "base/guarded.h"
#include "vx/core/failure.h"
#include "vx/core/profile_data.h"
#include "vx/graph/graph_impl.h"

namespace tim::vx {

Status GraphImpl::ProfileTo(int runs, GraphProfile* profile) {
  if (runs < 0) {
    return InvalidArgument("Profile() is asked for ", runs,
                           " runs; 1 or more make a profile");
  }
  if (runs > 0) TIM_RETURN_IF_ERROR(CompileIfChanged());
  if (IsItsInputs()) {
    return InvalidArgument("graph ", core_->name,
                           " has no operations and no OUTPUT tensor, so that "
                           "there is nothing to profile");
  }
  for (int run = 0; run < runs; ++run) {
    TIM_RETURN_IF_ERROR(compiled_->ProfileRun());
  }
  if (compiled_ != nullptr && compiled_->profiler() != nullptr) {
    *profile = ProfileOf(compiled_->profiler()->profile());
  }
  if (*profile) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckCompilable());
  return FailedPrecondition(
      "graph ", core_->name,
      " has no profile: no run was observed. Profile(1) makes one, and "
      "TIMCL_PROFILE=1 observes every run");
}

GraphProfile GraphImpl::ProfileRuns(int runs) {
  GraphProfile profile;
  const Status status = GuardedCall([&] { return ProfileTo(runs, &profile); });
  if (status.ok()) return profile;
  for (const auto& output : outputs_) {
    if (runs <= 0) break;  // none was tried
    static_cast<TensorImpl&>(*output).SetRun(TensorImpl::RunResult::kFailed);
  }
  FailToCompile(*core_, status);
  return GraphProfile();
}

}  // namespace tim::vx
