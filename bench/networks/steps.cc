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

// What the compiler knew of the step's node: the kernel with its predicted
// microseconds, the work, and the device's peaks.
void DescribeNode(const ir::Plan& plan, const ir::Step& step,
                  const ir::DeviceInfo& device, nlohmann::json* out) {
  for (const ir::Decision& decision : plan.decisions) {
    if (decision.node == step.label) (*out)["chosen"] = decision.chosen;
  }
  const auto work = plan.notes.work.find(step.label);
  if (work == plan.notes.work.end()) return;
  (*out)["operations"] = work->second.operations;
  (*out)["bytes"] = work->second.bytes;
  (*out)["peak_gflops"] = device.gflops;
  (*out)["peak_gbps"] = device.gbytes_per_second;
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
    nlohmann::json& step = out.emplace_back(
        Describe(plan.steps[i], seconds.at(std::to_string(i))));
    DescribeNode(plan, plan.steps[i], devices[1]->info(), &step);
  }
  return out;
}

}  // namespace tim::bench
