// Launches kernels before the first run does.
#include "runtime/warm_up.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "base/trace.h"
#include "device/device_pools.h"
#include "runtime/transfer.h"

namespace tim::runtime {
namespace {

using device::Buffer;
using device::Stream;

// A tensor of the caller in host memory, which nothing stands for.
bool IsExternal(const ir::Slot& slot) {
  return slot.device == 0 && (slot.kind == ir::SlotKind::kInput ||
                              slot.kind == ir::SlotKind::kOutput);
}

// A state, or a tensor of the caller that the device will import.
bool IsUnbound(const ir::Slot& slot) {
  return slot.kind != ir::SlotKind::kArena &&
         slot.kind != ir::SlotKind::kConstant && !IsExternal(slot);
}

// Steps of devices that are no part of the library have been built when they
// are prepared.
bool ToWarm(const ir::Plan& plan, const ir::Step& step) {
  if (std::holds_alternative<ir::Copy>(step.action) ||
      std::holds_alternative<ir::HostCall>(step.action) ||
      std::holds_alternative<ir::DeviceCall>(step.action) ||
      std::holds_alternative<ir::GraphCall>(step.action) ||
      std::holds_alternative<ir::ControlCall>(step.action)) {
    return false;
  }
  return std::none_of(
      step.operands.begin(), step.operands.end(),
      [&](int operand) { return IsExternal(plan.slots[operand]); });
}

// A user's kernel on what nobody has written yet might do anything.
Status FirstUse(const ir::Step& step, const PreparedGroup& ready,
                std::span<const device::BufferRange> operands, Stream& stream) {
  return std::holds_alternative<ir::UserLaunch>(step.action)
             ? stream.Build(*ready.step, operands)
             : stream.Enqueue(*ready.step, operands);
}

// Stands for what is not bound: per device as much as the largest of it needs;
// none where there is nothing.
Result<std::vector<device::PoolRange>> StandIns(
    const Executable& executable,
    std::span<const std::unique_ptr<Stream>> streams) {
  const ir::Plan& plan = executable.plan();
  std::vector<int64_t> sizes(plan.devices.size(), 0);
  for (const ir::Slot& slot : plan.slots) {
    if (!IsUnbound(slot)) continue;
    sizes[slot.device] = std::max(sizes[slot.device], slot.offset + slot.bytes);
  }
  std::vector<device::PoolRange> scratch(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 || streams[i] == nullptr) continue;
    device::DevicePools& pools = executable.device(static_cast<int>(i)).pools();
    TIM_ASSIGN_OR_RETURN(
        scratch[i],
        pools.Of(ir::MemoryKind::kDevice).Allocate(sizes[i], streams[i].get()));
    TIM_RETURN_IF_ERROR(FillZero(*streams[i], scratch[i].buffer()));
  }
  return scratch;
}

}  // namespace

Status WarmUp(const Executable& executable, RunMemory& memory,
              std::span<const std::unique_ptr<Stream>> streams,
              std::span<const PreparedGroup> prepared, StepFailures* failures) {
  const ir::Plan& plan = executable.plan();
  const TraceSpan span("build", "first use of the kernels", plan.graph);
  TIM_RETURN_IF_ERROR(memory.ZeroArenas(streams));
  TIM_ASSIGN_OR_RETURN(const auto stand_ins, StandIns(executable, streams));
  std::vector<Buffer*> buffers(stand_ins.size(), nullptr);
  for (size_t i = 0; i < stand_ins.size(); ++i) {
    if (stand_ins[i]) buffers[i] = &stand_ins[i].buffer();
  }
  memory.BindTo(buffers);
  Status status;
  for (const PreparedGroup& ready : prepared) {
    const ir::Step& step = plan.steps[ready.group.first];
    if (!ToWarm(plan, step)) continue;
    status = FirstUse(step, ready, memory.operands(ready.group),
                      *streams[step.device])
                 .WithContext(step.label);
    if (status.ok()) continue;
    const bool another =
        !ready.group.chain &&
        failures->Keep(executable.plan(), ready.group.first, status);
    if (!another) break;
    status = OkStatus();
  }
  // Also after a failure: the stand-ins must outlive what was enqueued.
  for (const std::unique_ptr<Stream>& stream : streams) {
    if (stream == nullptr) continue;
    const Status finished = Finish(*stream);
    if (status.ok()) status = finished;
  }
  if (!status.ok()) *failures = {};
  if (status.ok() && !failures->empty()) status = failures->first();
  return status.WithContext("first use of the kernels");
}

}  // namespace tim::runtime
