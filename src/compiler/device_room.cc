// Adds up what a plan needs of each device.
#include "compiler/device_room.h"

#include <cstddef>

#include "base/str_cat.h"

namespace tim::compiler {
namespace {

// Drivers need some, and others may be at work.
constexpr double kShare = 0.9;

bool HasLimit(const ir::DeviceInfo& info) {
  return info.kind != "host" && !info.unified_memory &&
         info.global_memory_bytes > 0;
}

}  // namespace

std::vector<int64_t> RoomOf(std::span<const ir::DeviceInfo> devices) {
  std::vector<int64_t> room;
  for (const ir::DeviceInfo& info : devices) {
    const auto bytes = static_cast<double>(info.global_memory_bytes);
    room.push_back(HasLimit(info) ? static_cast<int64_t>(kShare * bytes) : 0);
  }
  return room;
}

Status CheckRoom(const ir::Plan& plan) {
  std::vector<int64_t> constants(plan.devices.size(), 0);
  std::vector<int64_t> arenas(plan.devices.size(), 0);
  for (const ir::ConstantBlock& block : plan.constants) {
    constants[static_cast<size_t>(block.device)] += block.bytes;
  }
  for (const ir::Arena& arena : plan.arenas) {
    arenas[static_cast<size_t>(arena.device)] += arena.bytes;
  }
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    const ir::DeviceInfo& info = plan.devices[d];
    const int64_t needed = constants[d] + arenas[d];
    if (!HasLimit(info) || needed <= info.global_memory_bytes) continue;
    return OutOfMemory("graph '", plan.graph, "' needs ", needed,
                       " bytes of device ", info.Label(), " (", info.name,
                       "), ", constants[d], " for constants and ", arenas[d],
                       " for tensors, and it has ", info.global_memory_bytes,
                       "; another device in the list could take a part");
  }
  return OkStatus();
}

}  // namespace tim::compiler
