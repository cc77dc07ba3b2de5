// Finds operands of launches that lie too far behind the start of their memory.
#include "compiler/kernel_reach.h"

#include <variant>

#include "ir/index_limit.h"
#include "ir/step.h"

namespace tim::compiler {
namespace {

bool IsInReach(const ir::Plan& plan, const ir::Step& step,
               const ir::KernelArg& argument) {
  const auto* tensor = std::get_if<ir::TensorArg>(&argument);
  if (tensor == nullptr) return true;
  const ir::Slot& slot = plan.slots[step.operands[tensor->operand]];
  return ir::IndicesFit(slot.offset / tensor->element_bytes,
                        slot.bytes / tensor->element_bytes);
}

}  // namespace

Status CheckKernelReach(const ir::Plan& plan) {
  for (const ir::Step& step : plan.steps) {
    const ir::DeviceInfo& device = plan.devices[step.device];
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    if (!device.remote || launch == nullptr) continue;
    for (const ir::KernelArg& argument : launch->arguments) {
      if (IsInReach(plan, step, argument)) continue;
      return OutOfMemory(
          "operation ", step.label, " on ", device.Label(),
          ": kernels of remote devices do not reach operands that end beyond "
          "2^31 elements of the device's memory; run less of the graph there, "
          "or divide it among several devices");
    }
  }
  return OkStatus();
}

}  // namespace tim::compiler
