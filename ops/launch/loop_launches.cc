// When the steps of a loop over time are launches.
#include "ops/launch/loop_launches.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

// A launch of a chain takes a microsecond, and a step of fewer operations
// little more (two processors of AVX-512).
constexpr double kLeastFlops = 5e5;

// A launch takes about 2 KiB of a plan.
constexpr int64_t kMostSteps = 1000;

void SetInt(const std::string& name, int64_t value, ir::KernelLaunch* launch) {
  for (size_t i = 0; i < launch->names.size(); ++i) {
    if (launch->names[i] != name) continue;
    launch->arguments[i] = static_cast<int32_t>(value);
  }
}

}  // namespace

bool StepsAreLaunches(double flops_of_step, int64_t steps,
                      const ir::DeviceInfo& device) {
  return device.chains && device.compute_units > 1 && steps <= kMostSteps &&
         flops_of_step >= kLeastFlops;
}

int64_t RowsOfStep(int64_t batch, const ir::DeviceInfo& device) {
  return RowsInRegisters(batch * std::max(1, device.compute_units), device);
}

void MarkScratchWritten(ir::Lowering* lowering) {
  ir::LoweredStep& step = lowering->steps.back();
  for (size_t i = 0; i < step.operands.size(); ++i) {
    if (step.operands[i].kind == ir::LoweredOperand::Kind::kScratch) {
      step.written[i] = true;
    }
  }
}

Status AppendStepLaunches(const Launch& launch,
                          const std::vector<std::string>& parts, int64_t steps,
                          ir::Lowering* lowering) {
  const auto first = static_cast<ptrdiff_t>(lowering->steps.size());
  for (const std::string& option : parts) {
    Launch part = launch;
    if (!option.empty()) part.Option(option);
    TIM_RETURN_IF_ERROR(part.AppendTo(lowering));
    MarkScratchWritten(lowering);
  }
  const std::vector<ir::LoweredStep> of_step(lowering->steps.begin() + first,
                                             lowering->steps.end());
  for (int64_t t = 1; t < steps; ++t) {
    for (ir::LoweredStep step : of_step) {
      auto& again = std::get<ir::KernelLaunch>(step.action);
      SetInt("begin", t, &again);
      SetInt("end", t + 1, &again);
      lowering->steps.push_back(std::move(step));
    }
  }
  const int last = static_cast<int>(lowering->steps.size()) - 1;
  for (const ir::LoweredStep& step : of_step) {
    for (const ir::LoweredOperand& operand : step.operands) {
      if (operand.kind != ir::LoweredOperand::Kind::kScratch) continue;
      lowering->scratch[operand.index].last = last;
    }
  }
  return OkStatus();
}

}  // namespace tim::ops
