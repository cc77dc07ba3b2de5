// Finds the size of scratchpads, checks those of executes, and places the
// arenas of a plan there.
#include "graph_api/scratchpad.h"

#include <cstddef>
#include <cstdint>

#include "base/aligned_memory.h"
#include "base/checked_math.h"
#include "graph_api/gpu_ports.h"
#include "graph_api/logical_tensor.h"
#include "graph_api/plan_probe.h"

namespace tim::graph {
namespace {

using runtime::PortMemory;

constexpr int64_t kAlignment = 64;

}  // namespace

bool Scratchpads::Holds(const ir::Arena& arena) const {
  const Engine& engine = *source_.engine;
  if (arena.bytes == 0) return false;
  if (engine.kind() == tim_graph_gpu) return arena.device != 0;
  const size_t device = static_cast<size_t>(arena.device);
  return device == 0 || engine.devices()[device]->info().unified_memory;
}

int64_t Scratchpads::BytesOf(std::span<const ir::Arena> arenas) const {
  int64_t bytes = 0;
  for (const ir::Arena& arena : arenas) {
    if (Holds(arena)) bytes = AlignUp(bytes, kAlignment) + arena.bytes;
  }
  return bytes;
}

int64_t Scratchpads::bytes() const {
  const std::lock_guard lock(mutex_);
  if (bytes_) return *bytes_;
  bytes_ = plan_ != nullptr ? BytesOf(plan_->plan().arenas) : 0;
  if (!constants_.empty()) {
    const auto probed = ProbePlan(source_, constants_);
    if (probed.ok()) bytes_ = BytesOf(probed->arenas);
  }
  return *bytes_;
}

Status Scratchpads::Check(const_tim_graph_tensor_t scratchpad) const {
  if (scratchpad == nullptr) return OkStatus();
  if (scratchpad->engine() != source_.engine) {
    return InvalidArgument(source_.name,
                           ": the scratchpad is of another engine");
  }
  const int64_t needed = bytes();
  const size_t given = MemorySizeOf(scratchpad->description());
  if (given == SIZE_MAX || given < static_cast<size_t>(needed)) {
    return InvalidArgument(
        source_.name, ": the scratchpad has ",
        given == SIZE_MAX ? "an unknown number of" : StrCat(given), " bytes, ",
        needed, " are needed, as get_scratchpad_logical_tensor() tells");
  }
  if (needed == 0) return OkStatus();
  if (scratchpad->handle() == nullptr) {
    return InvalidArgument(source_.name,
                           ": the handle of the scratchpad is null");
  }
  if (scratchpad->handle_kind() == HandleKind::kPointer &&
      !IsAligned(scratchpad->handle(), kAlignment)) {
    return InvalidArgument(source_.name, ": the scratchpad is not aligned to ",
                           kAlignment, " bytes");
  }
  return OkStatus();
}

std::vector<PortMemory> Scratchpads::HostArenas(
    const ir::Plan& plan, const_tim_graph_tensor_t scratchpad) const {
  const bool fits = scratchpad != nullptr && BytesOf(plan.arenas) <= bytes();
  std::vector<PortMemory> arenas;
  if (!fits) return arenas;
  auto* const memory = static_cast<std::byte*>(scratchpad->handle());
  int64_t offset = 0;
  for (const ir::Arena& arena : plan.arenas) {
    PortMemory& own = arenas.emplace_back();
    if (!Holds(arena)) continue;
    offset = AlignUp(offset, kAlignment);
    own = PortMemory(memory + offset, arena.bytes);
    offset += arena.bytes;
  }
  return arenas;
}

Result<std::vector<GpuPort>> Scratchpads::DeviceArenas(
    const ir::Plan& plan, const_tim_graph_tensor_t scratchpad) const {
  std::vector<GpuPort> arenas;
  if (source_.engine->kind() != tim_graph_gpu) {
    for (const PortMemory& memory : HostArenas(plan, scratchpad)) {
      arenas.push_back({.host = memory, .keeper = scratchpad->memory()});
    }
    return arenas;
  }
  if (scratchpad == nullptr || BytesOf(plan.arenas) > bytes()) return arenas;
  for (const ir::Arena& arena : plan.arenas) {
    arenas.emplace_back();
    if (!Holds(arena)) continue;
    TIM_ASSIGN_OR_RETURN(
        arenas.back(),
        DevicePortOf(*scratchpad, arena.bytes, *source_.engine->device()));
  }
  return arenas;
}

}  // namespace tim::graph
