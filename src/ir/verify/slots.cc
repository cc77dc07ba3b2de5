#include "base/checked_math.h"
#include "ir/verify/checks.h"

namespace tim::ir {
namespace {

// Of values inside of others; others are aligned to their device.
constexpr int64_t kOffsetAlignment = 64;

// What a slot is a piece of.
struct Home {
  const char* what = "";
  size_t count = 0;  ///< Of what there is of its kind.
};

Result<Home> HomesOf(const Plan& plan, SlotKind kind) {
  switch (kind) {
    case SlotKind::kArena:
      return Home{"arena", plan.arenas.size()};
    case SlotKind::kConstant:
      return Home{"constant", plan.constants.size()};
    case SlotKind::kInput:
      return Home{"input", plan.inputs.size()};
    case SlotKind::kOutput:
      return Home{"output", plan.outputs.size()};
    case SlotKind::kStateRead:
    case SlotKind::kStateWrite:
      return Home{"state", plan.states.size()};
  }
  return InvalidArgument("is of kind ", static_cast<int>(kind));
}

// The device and size of that piece.
struct Place {
  int device = 0;
  int64_t bytes = 0;
};

// The caller's memory is a device's, or the host's and perhaps imported.
Result<Place> PlaceOf(const Plan& plan, const PlanTensor& tensor, int device) {
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(tensor.desc));
  if (tensor.device != 0) return Place{tensor.device, bytes};
  return Place{plan.devices[device].unified_memory ? device : 0, bytes};
}

Result<Place> PlaceOf(const PlanState& state, SlotKind kind) {
  if (kind == SlotKind::kStateWrite && !state.written) {
    return InvalidArgument("state '", state.name,
                           "' is written, but not marked so");
  }
  if (kind == SlotKind::kStateRead && state.in_place) {
    return InvalidArgument("state '", state.name,
                           "' is updated in place, but read as it was before");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(state.desc));
  return Place{state.device, bytes};
}

// The index names what there is.
Result<Place> PlaceOf(const Plan& plan, const Slot& slot) {
  switch (slot.kind) {
    case SlotKind::kArena:
      return Place{plan.arenas[slot.index].device,
                   plan.arenas[slot.index].bytes};
    case SlotKind::kConstant:
      return Place{plan.constants[slot.index].device,
                   plan.constants[slot.index].bytes};
    case SlotKind::kInput:
      return PlaceOf(plan, plan.inputs[slot.index], slot.device);
    case SlotKind::kOutput:
      return PlaceOf(plan, plan.outputs[slot.index], slot.device);
    case SlotKind::kStateRead:
    case SlotKind::kStateWrite:
      break;
  }
  return PlaceOf(plan.states[slot.index], slot.kind);
}

Status CheckRange(const Slot& slot, int64_t limit) {
  const auto end = CheckedAdd(slot.offset, slot.bytes);
  if (slot.offset < 0 || slot.bytes < 0 || !end || *end > limit) {
    return InvalidArgument("has ", slot.bytes, " bytes at ", slot.offset,
                           " of ", limit);
  }
  if (slot.kind == SlotKind::kArena && slot.offset % kOffsetAlignment != 0) {
    return InvalidArgument("has offset ", slot.offset, ", no multiple of ",
                           kOffsetAlignment);
  }
  return OkStatus();
}

Status CheckSlot(const Plan& plan, const Slot& slot) {
  if (slot.device < 0 || slot.device >= static_cast<int>(plan.devices.size())) {
    return InvalidArgument("is on device ", slot.device, " of ",
                           plan.devices.size());
  }
  TIM_ASSIGN_OR_RETURN(const Home home, HomesOf(plan, slot.kind));
  if (slot.index < 0 || static_cast<size_t>(slot.index) >= home.count) {
    return InvalidArgument("is in ", home.what, " ", slot.index, " of ",
                           home.count);
  }
  TIM_ASSIGN_OR_RETURN(const Place place, PlaceOf(plan, slot));
  if (slot.device != place.device) {
    return InvalidArgument("is on device ", slot.device,
                           ", its memory on device ", place.device);
  }
  TIM_RETURN_IF_ERROR(CheckRange(slot, place.bytes));
  if (slot.allocation >= -1) return OkStatus();
  return InvalidArgument("is of allocation ", slot.allocation);
}

}  // namespace

Status CheckSlots(const Plan& plan) {
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Status status = CheckSlot(plan, plan.slots[i]);
    if (status.ok()) continue;
    return InvalidArgument("slot ", i, " ", status.message());
  }
  return OkStatus();
}

}  // namespace tim::ir
