// Memory of devices, against what a plan needs of it.
#ifndef TIM_COMPILER_DEVICE_ROOM_H_
#define TIM_COMPILER_DEVICE_ROOM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/plan.h"

namespace tim::compiler {

/// Bytes that a graph may take of each device, a part of what it has; 0: no
/// limit, of the host and of devices that work in its memory.
std::vector<int64_t> RoomOf(std::span<const ir::DeviceInfo> devices);

/// kOutOfMemory names a device that has less memory than constants and arenas
/// of the plan take, and both sizes.
Status CheckRoom(const ir::Plan& plan);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_DEVICE_ROOM_H_
