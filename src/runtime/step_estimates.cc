// The costs that kernels were chosen by, for each step.
#include "runtime/step_estimates.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tim::runtime {
namespace {

constexpr double kLeastUs = 1e-3;

double TouchedBytes(const ir::Plan& plan, const ir::Step& step) {
  double bytes = 0;
  for (const int operand : step.operands) {
    bytes += static_cast<double>(plan.slots[operand].bytes);
  }
  return bytes;
}

double MemoryUs(const ir::DeviceInfo& device, double bytes) {
  const double speed = std::max(device.gbytes_per_second, 1e-3);
  return std::max(device.launch_us, 0.0) + bytes / (speed * 1e3);
}

struct NodeSteps {
  std::optional<double> us;
  double bytes = 0;
};

}  // namespace

// "opencl:relu_f32 (dense) -> dense, 12.5 us": 12.5.
std::optional<double> CostOf(const ir::Decision& decision) {
  constexpr std::string_view kUnit = " us";
  std::string_view text = decision.chosen;
  if (!text.ends_with(kUnit)) return std::nullopt;
  text.remove_suffix(kUnit.size());
  const size_t comma = text.rfind(", ");
  if (comma == std::string_view::npos) return std::nullopt;
  text.remove_prefix(comma + 2);
  double us = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, us);
  if (error != std::errc() || stop != end || !(us > 0) || us > 1e12) {
    return std::nullopt;
  }
  return us;
}

namespace {

// What was estimated for each node, and how its steps share it.
class StepShares {
 public:
  explicit StepShares(const ir::Plan& plan) : plan_(plan) {
    for (const ir::Decision& decision : plan.decisions) {
      if (IsRecognized(decision)) continue;
      nodes_[decision.node].us = CostOf(decision);
    }
    for (const ir::Step& step : plan.steps) {
      // Steps that touch nothing have a part, too.
      touched_.push_back(1 + TouchedBytes(plan, step));
      nodes_[step.label].bytes += touched_.back();
    }
  }

  double touched(size_t i) const { return touched_[i]; }
  // The step's part of what its node takes, `less` microseconds less; none
  // where that is not known.
  std::optional<double> Us(size_t i, double less) const {
    const NodeSteps& node = nodes_.at(plan_.steps[i].label);
    if (!node.us) return std::nullopt;
    return std::max(*node.us - less, 0.0) * touched_[i] / node.bytes;
  }

 private:
  const ir::Plan& plan_;
  std::map<std::string, NodeSteps> nodes_;
  std::vector<double> touched_;
};

}  // namespace

std::vector<double> EstimateSteps(const ir::Plan& plan) {
  const StepShares shares(plan);
  std::vector<double> estimates;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const ir::DeviceInfo& device = plan.devices[plan.steps[i].device];
    estimates.push_back(
        std::max(shares.Us(i, 0).value_or(MemoryUs(device, shares.touched(i))),
                 kLeastUs));
  }
  return estimates;
}

std::vector<std::optional<double>> EstimateWork(const ir::Plan& plan) {
  const StepShares shares(plan);
  std::vector<std::optional<double>> work;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const ir::DeviceInfo& device = plan.devices[plan.steps[i].device];
    work.push_back(shares.Us(i, device.launch_us));
  }
  return work;
}

}  // namespace tim::runtime
