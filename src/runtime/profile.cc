// Makes operations of steps, and sums their times up.
#include "runtime/profile.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/log.h"
#include "runtime/step_estimates.h"

namespace tim::runtime {
namespace {

std::string KernelOf(const ir::Step& step) {
  if (std::holds_alternative<ir::Copy>(step.action)) return "copy";
  if (std::holds_alternative<ir::HostCall>(step.action)) return "eval";
  if (const auto* call = std::get_if<ir::ControlCall>(&step.action)) {
    return ToString(call->kind);
  }
  return step.kernel;
}

// Sizes of operands, each piece of memory once.
double BytesOf(const ir::Plan& plan, const ir::Step& step) {
  const std::set<int> operands(step.operands.begin(), step.operands.end());
  double bytes = 0;
  for (const int operand : operands) {
    bytes += static_cast<double>(plan.slots[operand].bytes);
  }
  return bytes;
}

}  // namespace

Profiler::Profiler(std::shared_ptr<const Executable> executable)
    : executable_(std::move(executable)) {
  const ir::Plan& plan = executable_->plan();
  profile_.graph = plan.graph;
  run_.resize(plan.steps.size());
  for (const ir::DeviceInfo& device : plan.devices) {
    profile_.devices.push_back(device.kind == "host" ? "host" : device.name);
  }
  Calibrate();
  AddOperations();
}

void Profiler::Calibrate() {
  const size_t count = executable_->plan().devices.size();
  profile_.reached.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const auto measured =
        runtime::Calibrate(executable_->shared_device(static_cast<int>(i)),
                           executable_->shared_store());
    if (measured.ok()) {
      profile_.reached[i] = *measured;
    } else if (measured.status().code() != StatusCode::kUnimplemented) {
      TIM_LOG(kWarning, measured.status().message(),
              "; the profile compares with nothing");
    }
  }
}

void Profiler::AddOperations() {
  const ir::Plan& plan = executable_->plan();
  std::map<std::string, size_t> known;
  for (const ir::Step& step : plan.steps) {
    auto& operations = profile_.operations;
    const auto [found, added] = known.emplace(step.label, operations.size());
    operation_of_.push_back(found->second);
    if (added) {
      operations.push_back({.name = step.label,
                            .op = {},
                            .device = step.device,
                            .kernel = KernelOf(step),
                            .chosen = {},
                            .refused = {}});
    }
    OperationProfile& operation = operations[found->second];
    ++operation.steps;
    operation.bytes += BytesOf(plan, step);
  }
  for (const ir::Decision& decision : plan.decisions) {
    const auto found = known.find(decision.node);
    if (found == known.end() || IsRecognized(decision)) continue;
    profile_.operations[found->second].chosen = decision.chosen;
    profile_.operations[found->second].refused = decision.refused;
  }
  for (OperationProfile& operation : profile_.operations) {
    const auto work = plan.notes.work.find(operation.name);
    if (work != plan.notes.work.end()) {
      operation.op = work->second.op;
      operation.operations = work->second.operations;
      operation.bytes = work->second.bytes;
    } else if (operation.kernel == "copy") {
      operation.op = "Copy";
    }
  }
}

Status Profiler::AfterStep(const ObservedStep& step) {
  run_[step.index()] = step.time();
  return OkStatus();
}

void Profiler::AfterRun(const Status& how_it_went, int64_t nanoseconds) {
  if (!how_it_went.ok()) return;
  const std::lock_guard lock(mutex_);
  ++profile_.runs;
  profile_.nanoseconds += nanoseconds;
  for (size_t i = 0; i < run_.size(); ++i) {
    OperationProfile& operation = profile_.operations[operation_of_[i]];
    operation.nanoseconds += run_[i].nanoseconds;
    if (run_[i].clock == StepTime::Clock::kHost) {
      operation.clock = StepTime::Clock::kHost;
    }
  }
}

RunProfile Profiler::profile() const {
  const std::lock_guard lock(mutex_);
  return profile_;
}

}  // namespace tim::runtime
