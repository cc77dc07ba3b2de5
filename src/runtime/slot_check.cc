#include "runtime/slot_check.h"

#include "base/checked_math.h"

namespace tim::runtime {
namespace {

// The device and size of what a slot is a piece of.
struct Home {
  int device = 0;
  int64_t bytes = 0;
};

Result<Home> ConstantHome(const ir::Plan& plan, int index) {
  if (index >= static_cast<int>(plan.constants.size())) {
    return InvalidArgument("plan: constant ", index, " of ",
                           plan.constants.size());
  }
  return Home{plan.constants[index].device, plan.constants[index].bytes};
}

// The caller's memory is the host's, or imported by a device.
Result<Home> TensorHome(const ir::Plan& plan, const ir::PlanTensor& tensor,
                        int device) {
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(tensor.desc));
  return Home{plan.devices[device].unified_memory ? device : 0, bytes};
}

Result<Home> StateHome(const ir::PlanState& state, ir::SlotKind kind) {
  if (kind == ir::SlotKind::kStateWrite && !state.written) {
    return InvalidArgument("plan: state '", state.name,
                           "' is written, but not marked so");
  }
  if (kind == ir::SlotKind::kStateRead && state.in_place) {
    return InvalidArgument("plan: state '", state.name,
                           "' is updated in place, but read as it was before");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(state.desc));
  return Home{state.device, bytes};
}

Result<Home> HomeOf(const ir::Plan& plan, const ir::Slot& slot) {
  switch (slot.kind) {
    case ir::SlotKind::kArena:
      return Home{plan.arenas[slot.index].device,
                  plan.arenas[slot.index].bytes};
    case ir::SlotKind::kConstant:
      return ConstantHome(plan, slot.index);
    case ir::SlotKind::kInput:
      return TensorHome(plan, plan.inputs[slot.index], slot.device);
    case ir::SlotKind::kOutput:
      return TensorHome(plan, plan.outputs[slot.index], slot.device);
    case ir::SlotKind::kStateRead:
    case ir::SlotKind::kStateWrite:
      return StateHome(plan.states[slot.index], slot.kind);
  }
  return TIM_INTERNAL("a slot of unknown kind");
}

Status CheckSlot(const ir::Plan& plan, int index) {
  const ir::Slot& slot = plan.slots[index];
  TIM_ASSIGN_OR_RETURN(const Home home, HomeOf(plan, slot));
  if (slot.device != home.device) {
    return InvalidArgument("plan: slot ", index, " is on device ", slot.device,
                           ", its memory on device ", home.device);
  }
  const auto end = CheckedAdd(slot.offset, slot.bytes);
  if (slot.offset < 0 || slot.bytes < 0 || !end || *end > home.bytes) {
    return InvalidArgument("plan: slot ", index, " has ", slot.bytes,
                           " bytes at ", slot.offset, " of ", home.bytes);
  }
  return OkStatus();
}

}  // namespace

Status CheckSlots(const ir::Plan& plan) {
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckSlot(plan, static_cast<int>(i)));
  }
  return OkStatus();
}

}  // namespace tim::runtime
