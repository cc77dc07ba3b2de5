// Which devices a kernel is made for: their class and their limits.
#ifndef TIM_OPS_LAUNCH_DEVICE_CLASS_H_
#define TIM_OPS_LAUNCH_DEVICE_CLASS_H_

#include <cstdint>
#include <initializer_list>

#include "base/status.h"
#include "ir/device_info.h"

namespace tim::ops {

/// For kernels whose work-items make a tile each in explicit vectors: ok on
/// CPUs, or the reason why not.
Status CheckCpu(const ir::DeviceInfo& device);

/// For kernels whose work-items share neighbouring elements: ok on everything
/// that is no CPU, or the reason why not.
Status CheckNoCpu(const ir::DeviceInfo& device);

/// Whether the device takes work-groups of these extents, one to three, that
/// use so many bytes of local memory; the text of an error has both numbers.
Status CheckWorkGroup(const ir::DeviceInfo& device,
                      std::initializer_list<int64_t> extents,
                      int64_t local_bytes = 0);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_DEVICE_CLASS_H_
