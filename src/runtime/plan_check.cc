#include "runtime/plan_check.h"

#include <variant>

#include "runtime/slot_check.h"

namespace tim::runtime {
namespace {

using Devices = std::span<const std::shared_ptr<device::Device>>;

Status CheckDevices(const ir::Plan& plan, Devices devices) {
  if (devices.size() != plan.devices.size() || devices.empty()) {
    return InvalidArgument("the plan is for ", plan.devices.size(),
                           " devices, found ", devices.size());
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string found =
        devices[i] == nullptr ? "none" : devices[i]->info().kind;
    if (found != plan.devices[i].kind) {
      return InvalidArgument("device ", i, " of the plan is of kind '",
                             plan.devices[i].kind, "', found '", found, "'");
    }
  }
  return OkStatus();
}

Status CheckDeviceIndex(const ir::Plan& plan, int device, const char* what) {
  if (device >= 0 && device < static_cast<int>(plan.devices.size())) {
    return OkStatus();
  }
  return InvalidArgument("plan: ", what, " on device ", device, " of ",
                         plan.devices.size());
}

Status CheckDeviceIndices(const ir::Plan& plan) {
  for (const ir::Arena& arena : plan.arenas) {
    TIM_RETURN_IF_ERROR(CheckDeviceIndex(plan, arena.device, "an arena"));
  }
  for (size_t i = 0; i < plan.constants.size(); ++i) {
    const ir::ConstantBlock& block = plan.constants[i];
    TIM_RETURN_IF_ERROR(CheckDeviceIndex(plan, block.device, "a constant"));
    if (block.data == nullptr) {
      return InvalidArgument("plan: constant ", i, " of ", block.bytes,
                             " bytes has no content");
    }
  }
  for (const ir::PlanState& state : plan.states) {
    TIM_RETURN_IF_ERROR(CheckDeviceIndex(plan, state.device, "a state"));
  }
  for (const ir::Step& step : plan.steps) {
    TIM_RETURN_IF_ERROR(CheckDeviceIndex(plan, step.device, "a step"));
  }
  return OkStatus();
}

Status CheckCopy(const ir::Plan& plan, const ir::Step& step,
                 const ir::Copy& copy) {
  if (step.operands.size() != 2) {
    return InvalidArgument("plan: the copy '", step.label, "' has ",
                           step.operands.size(), " operands");
  }
  for (const int operand : step.operands) {
    const ir::Slot& slot = plan.slots[operand];
    if (copy.bytes < 0 || copy.bytes > slot.bytes) {
      return InvalidArgument("plan: the copy '", step.label, "' of ",
                             copy.bytes, " bytes, a slot has ", slot.bytes);
    }
    if (slot.device != step.device && slot.device != 0) {
      return InvalidArgument("plan: the copy '", step.label, "' on device ",
                             step.device, " reaches device ", slot.device);
    }
  }
  return OkStatus();
}

Status CheckStep(const ir::Plan& plan, const ir::Step& step) {
  if (const auto* copy = std::get_if<ir::Copy>(&step.action)) {
    return CheckCopy(plan, step, *copy);
  }
  for (const int operand : step.operands) {
    if (plan.slots[operand].device == step.device) continue;
    return InvalidArgument("plan: step '", step.label, "' on device ",
                           step.device, " has an operand on device ",
                           plan.slots[operand].device);
  }
  return OkStatus();
}

}  // namespace

Status CheckPlan(const ir::Plan& plan, Devices devices) {
  TIM_RETURN_IF_ERROR(CheckDevices(plan, devices));
  TIM_RETURN_IF_ERROR(CheckDeviceIndices(plan));
  TIM_RETURN_IF_ERROR(ir::Verify(plan));
  TIM_RETURN_IF_ERROR(CheckSlots(plan));
  for (const ir::Step& step : plan.steps) {
    TIM_RETURN_IF_ERROR(CheckStep(plan, step));
  }
  return OkStatus();
}

}  // namespace tim::runtime
