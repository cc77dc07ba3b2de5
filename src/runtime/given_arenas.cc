// Checks of the memory that callers give to the arenas of a run.
#include "runtime/given_arenas.h"

#include <cstddef>

#include "base/aligned_memory.h"
#include "device/host/host_buffer.h"
#include "ir/index_limit.h"

namespace tim::runtime {
namespace {

using device::kHostAlignment;

Status CheckArena(const ir::Plan& plan, const ir::Arena& arena,
                  const PortMemory& memory) {
  if (memory.host == nullptr && memory.range.buffer == nullptr) {
    return OkStatus();
  }
  if (memory.bytes < arena.bytes) {
    return InvalidArgument("takes ", arena.bytes, " bytes, was given ",
                           memory.bytes);
  }
  const ir::DeviceInfo& device = plan.devices[arena.device];
  if (memory.range.buffer != nullptr) {
    const bool fits = memory.range.offset % device.alignment == 0 &&
                      ir::IndicesFit(memory.range.offset, arena.bytes);
    if (fits) return OkStatus();
    return InvalidArgument("was given memory at byte ", memory.range.offset,
                           " of a buffer, no multiple of ", device.alignment,
                           " that kernels can count from");
  }
  if (!IsAligned(memory.host, kHostAlignment)) {
    return InvalidArgument("was given memory that is not aligned to ",
                           kHostAlignment, " bytes");
  }
  if (arena.device == 0 || device.unified_memory) return OkStatus();
  return InvalidArgument("is on ", device.name,
                         ", which does not see the host's memory");
}

}  // namespace

Status CheckArenas(const ir::Plan& plan, GivenArenas arenas) {
  if (arenas.empty()) return OkStatus();
  if (arenas.size() != plan.arenas.size()) {
    return InvalidArgument("graph '", plan.graph, "' has ", plan.arenas.size(),
                           " arenas, a run was given ", arenas.size());
  }
  for (size_t i = 0; i < arenas.size(); ++i) {
    const Status status = CheckArena(plan, plan.arenas[i], arenas[i]);
    if (status.ok()) continue;
    return Status(status.code(), StrCat("graph '", plan.graph, "': arena ", i,
                                        " ", status.message()));
  }
  return OkStatus();
}

}  // namespace tim::runtime
