#include "bench/networks/steps.h"

#include <string>
#include <utility>
#include <variant>

#include "bench/networks/network_run.h"
#include "bench/timing/timed_plan.h"

namespace tim::bench {
namespace {

constexpr int kRepeats = 10;

ir::Plan OneStep(ir::Plan plan, size_t index) {
  ir::Step step = plan.steps[index];
  step.waits.clear();
  plan.steps.assign(kRepeats, step);
  return plan;
}

template <typename Launch>
void DescribeLaunch(const Launch& launch, nlohmann::json* out) {
  (*out)["kernel"] = launch.function;
  (*out)["options"] = launch.options;
  (*out)["global"] = launch.range.global;
}

nlohmann::json Describe(const ir::Step& step, double seconds) {
  nlohmann::json out = {{"step", step.label},
                        {"microseconds", 1e6 * seconds / kRepeats}};
  if (const auto* launch = std::get_if<ir::KernelLaunch>(&step.action)) {
    DescribeLaunch(*launch, &out);
  } else if (const auto* users = std::get_if<ir::UserLaunch>(&step.action)) {
    DescribeLaunch(*users, &out);
  }
  return out;
}

}  // namespace

Result<nlohmann::json> MeasureSteps(const Network& network) {
  TIM_ASSIGN_OR_RETURN(const NetworkRun run, NetworkRun::Create(network));
  TIM_ASSIGN_OR_RETURN(const Devices devices, MeasuredDevices());
  const ir::Plan& plan = run.plan();
  std::vector<Timed> functions;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(
        functions.emplace_back(),
        TimedPlan(std::to_string(i), OneStep(plan, i), devices));
  }
  TIM_ASSIGN_OR_RETURN(const auto seconds,
                       MedianSeconds(functions, Effort::kSteps));
  nlohmann::json out = nlohmann::json::array();
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    out.push_back(Describe(plan.steps[i], seconds.at(std::to_string(i))));
  }
  return out;
}

}  // namespace tim::bench
