// Names and arguments of steps as the trace shows them.
#include "runtime/run_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "runtime/step_estimates.h"

namespace tim::runtime {
namespace {

using Part = TracePattern::Part;
using Pattern = RunText::Pattern;

enum class Time : uint8_t { kMeasured, kEstimated };

Pattern MakePattern(const std::vector<Part>& parts) {
  return std::make_shared<const TracePattern>(parts);
}

const char* CategoryOf(const ir::Step& step) {
  if (std::holds_alternative<ir::Copy>(step.action)) return "copy";
  if (std::holds_alternative<ir::HostCall>(step.action) ||
      std::holds_alternative<ir::ControlCall>(step.action)) {
    return "host";
  }
  return "kernel";
}

// Name of what does the step: its kernel, or the operator of a host step.
std::string MeansOf(const ir::Step& step) {
  if (const auto* call = std::get_if<ir::HostCall>(&step.action)) {
    return call->op;
  }
  if (std::holds_alternative<ir::Copy>(step.action)) return "copy";
  if (const auto* call = std::get_if<ir::ControlCall>(&step.action)) {
    return ToString(call->kind);
  }
  return step.kernel;
}

// Short: a run of a chain has an event per launch.
std::string ArgumentsOf(Time time) {
  return time == Time::kEstimated ? "\"estimated\":true" : "";
}

Part PartOf(const ir::Step& step, Time time) {
  return {.category = CategoryOf(step),
          .name = StrCat(step.label, " ", MeansOf(step)),
          .arguments = ArgumentsOf(time)};
}

RunText::Texts StepTexts(const ir::Step& step, Time time) {
  const Pattern pattern = MakePattern({PartOf(step, time)});
  return {.opened = pattern, .closed = pattern};
}

RunText::Group StepText(const ir::Plan& plan, size_t index, double us) {
  const ir::Step& step = plan.steps[index];
  return {.measured = StepTexts(step, Time::kMeasured),
          .estimated = StepTexts(step, Time::kEstimated),
          .us = us,
          .device = step.device,
          .last = index};
}

Part ChainPart(const StepGroup& group, Time time) {
  return {.category = "chain",
          .name = StrCat("chain of ", group.count,
                         group.count == 1 ? " kernel" : " kernels"),
          .arguments = ArgumentsOf(time)};
}

// Without a launch of its own, which an estimate has in it.
double ShareInChain(const ir::Plan& plan, size_t step, double us) {
  const double launch = plan.devices[plan.steps[step].device].launch_us;
  return std::max(us - launch, us * 0.01);
}

RunText::Texts ChainTexts(const StepGroup& group,
                          std::span<const Part> launches, Time time) {
  std::vector<Part> parts = {ChainPart(group, time)};
  RunText::Texts texts;
  texts.closed = MakePattern(parts);
  parts.insert(parts.end(), launches.begin(), launches.end());
  texts.opened = MakePattern(parts);
  return texts;
}

RunText::Group ChainText(const ir::Plan& plan, const StepGroup& group,
                         std::span<const double> estimates) {
  const size_t end = group.first + group.count;
  std::vector<double> shares;
  double us = 0;
  double total = 0;
  for (size_t i = group.first; i < end; ++i) {
    us += estimates[i];
    shares.push_back(ShareInChain(plan, i, estimates[i]));
    total += shares.back();
  }
  std::vector<Part> launches;
  double done = 0;
  for (size_t i = group.first; i < end; ++i) {
    Part part = PartOf(plan.steps[i], Time::kEstimated);
    part.begin = done / total;
    done += shares[i - group.first];
    part.end = i + 1 == end ? 1 : done / total;
    launches.push_back(std::move(part));
  }
  return {.measured = ChainTexts(group, launches, Time::kMeasured),
          .estimated = ChainTexts(group, launches, Time::kEstimated),
          .us = us,
          .device = plan.steps[group.first].device,
          .last = end - 1};
}

}  // namespace

RunText::RunText(const ir::Plan& plan, std::span<const StepGroup> groups)
    : run_(MakePattern(
          {{.category = "run", .name = StrCat("Run ", plan.graph)}})),
      enqueue_(MakePattern({{.category = "run", .name = "enqueue"}})),
      wait_(MakePattern({{.category = "wait", .name = "wait for the device"}})),
      queue_(MakePattern({{.category = "queue", .name = plan.graph}})),
      chains_(plan.steps.size()) {
  const std::vector<double> estimates = EstimateSteps(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    steps_.push_back(StepText(plan, i, estimates[i]));
  }
  for (const StepGroup& group : groups) {
    if (group.chain) chains_[group.first] = ChainText(plan, group, estimates);
  }
}

}  // namespace tim::runtime
