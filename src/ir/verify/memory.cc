#include <limits>

#include "base/checked_math.h"
#include "ir/verify/checks.h"
#include "ir/verify/desc_check.h"

namespace tim::ir {
namespace {

Status CheckDevice(const Plan& plan, int device) {
  if (device >= 0 && device < static_cast<int>(plan.devices.size())) {
    return OkStatus();
  }
  return InvalidArgument("on device ", device, " of ", plan.devices.size());
}

// Indices are ints.
Status CheckCount(const char* what, size_t count) {
  if (count <= std::numeric_limits<int>::max()) return OkStatus();
  return InvalidArgument(count, " ", what);
}

Status CheckCounts(const Plan& plan) {
  TIM_RETURN_IF_ERROR(CheckCount("devices", plan.devices.size()));
  TIM_RETURN_IF_ERROR(CheckCount("slots", plan.slots.size()));
  TIM_RETURN_IF_ERROR(CheckCount("arenas", plan.arenas.size()));
  TIM_RETURN_IF_ERROR(CheckCount("constants", plan.constants.size()));
  TIM_RETURN_IF_ERROR(CheckCount("inputs", plan.inputs.size()));
  TIM_RETURN_IF_ERROR(CheckCount("outputs", plan.outputs.size()));
  TIM_RETURN_IF_ERROR(CheckCount("states", plan.states.size()));
  return CheckCount("steps", plan.steps.size());
}

Status CheckDevices(const Plan& plan) {
  if (plan.devices.empty()) return InvalidArgument("it has no devices");
  for (size_t i = 0; i < plan.devices.size(); ++i) {
    const DeviceInfo& info = plan.devices[i];
    if (info.alignment < 1) {
      return InvalidArgument("device ", i, " has an alignment of ",
                             info.alignment);
    }
    if (static_cast<int>(info.device_class) >
        static_cast<int>(DeviceClass::kAccelerator)) {
      return InvalidArgument("device ", i, " is of class ",
                             static_cast<int>(info.device_class));
    }
  }
  return OkStatus();
}

Status CheckArena(const Plan& plan, const Arena& arena) {
  TIM_RETURN_IF_ERROR(CheckDevice(plan, arena.device));
  if (static_cast<int>(arena.memory) > static_cast<int>(MemoryKind::kHost)) {
    return InvalidArgument("in memory of kind ",
                           static_cast<int>(arena.memory));
  }
  if (arena.bytes >= 0) return OkStatus();
  return InvalidArgument("of ", arena.bytes, " bytes");
}

Status CheckBlock(const Plan& plan, const ConstantBlock& block) {
  TIM_RETURN_IF_ERROR(CheckDevice(plan, block.device));
  if (block.bytes < 0) return InvalidArgument("of ", block.bytes, " bytes");
  if (block.data == nullptr) {
    return InvalidArgument("of ", block.bytes, " bytes has no content");
  }
  for (const PlacedConstant& placed : block.constants) {
    const auto end = CheckedAdd(placed.offset, placed.bytes);
    if (placed.offset >= 0 && placed.bytes >= 0 && end && *end <= block.bytes) {
      continue;
    }
    return InvalidArgument("has '", placed.id, "' of ", placed.bytes,
                           " bytes at ", placed.offset, " of ", block.bytes);
  }
  return OkStatus();
}

Status CheckTensor(const TensorDesc& desc) {
  if (!desc.layout.dense()) {
    return InvalidArgument("has layout ", desc.layout.ToString(),
                           ", which is not dense");
  }
  return CheckDesc(desc).status();
}

Status CheckPort(const Plan& plan, const PlanTensor& port, bool written) {
  TIM_RETURN_IF_ERROR(CheckDevice(plan, port.device));
  TIM_RETURN_IF_ERROR(CheckDesc(port.desc).status());
  return written ? CheckWritable(port.desc) : OkStatus();
}

Status CheckState(const Plan& plan, const PlanState& state) {
  TIM_RETURN_IF_ERROR(CheckDevice(plan, state.device));
  return CheckTensor(state.desc);
}

Status CheckReport(const MemoryReport& memory) {
  const std::pair<const char*, int64_t> figures[] = {
      {"no_reuse_sum", memory.no_reuse_sum},
      {"lower_bound", memory.lower_bound},
      {"peak", memory.peak},
      {"eval_scratch", memory.eval_scratch}};
  for (const auto& [name, bytes] : figures) {
    if (bytes >= 0) continue;
    return InvalidArgument("memory report: ", name, " of ", bytes, " bytes");
  }
  return OkStatus();
}

// Each of `items` by `check`, which names what is wrong with "<what> <index>".
template <typename Item, typename Check>
Status CheckEach(const char* what, const std::vector<Item>& items,
                 Check check) {
  for (size_t i = 0; i < items.size(); ++i) {
    const Status status = check(items[i]);
    if (status.ok()) continue;
    return InvalidArgument(what, " ", i, " ", status.message());
  }
  return OkStatus();
}

}  // namespace

Status CheckMemory(const Plan& plan) {
  TIM_RETURN_IF_ERROR(CheckCounts(plan));
  TIM_RETURN_IF_ERROR(CheckDevices(plan));
  TIM_RETURN_IF_ERROR(CheckEach("arena", plan.arenas, [&](const Arena& arena) {
    return CheckArena(plan, arena);
  }));
  TIM_RETURN_IF_ERROR(CheckEach(
      "constant", plan.constants,
      [&](const ConstantBlock& block) { return CheckBlock(plan, block); }));
  TIM_RETURN_IF_ERROR(CheckEach(
      "input", plan.inputs,
      [&](const PlanTensor& port) { return CheckPort(plan, port, false); }));
  TIM_RETURN_IF_ERROR(CheckEach(
      "output", plan.outputs,
      [&](const PlanTensor& port) { return CheckPort(plan, port, true); }));
  TIM_RETURN_IF_ERROR(CheckEach(
      "state", plan.states,
      [&](const PlanState& state) { return CheckState(plan, state); }));
  return CheckReport(plan.memory);
}

}  // namespace tim::ir
