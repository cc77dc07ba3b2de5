// Work sizes against the limits of a device: one text on every device.
#ifndef TIM_DEVICE_LAUNCH_CHECK_H_
#define TIM_DEVICE_LAUNCH_CHECK_H_

#include <array>
#include <cstdint>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/step.h"

namespace tim::device {

/// What one kernel allows, which may be less than its device does.
struct KernelLimits {
  int64_t work_group_size = 0;  ///< 0: as the device.
  /// reqd_work_group_size of the kernel; all 0: none.
  std::array<int64_t, 3> required_local = {0, 0, 0};
  /// Local memory that the kernel declares itself.
  int64_t local_memory_bytes = 0;
};

/// The local sizes that `range` runs with; 0 beside other sizes means 1. Where
/// it leaves all of them open they are those that the kernel requires, or all 0
/// in its dimensions: the runtime chooses.
std::array<int64_t, 3> LocalSizes(const ir::NdRange& range,
                                  const KernelLimits& limits);

/// The work sizes of a launch, and the local memory that it asks for by
/// LocalArg, each at least a byte, and that the kernel declares, all together
/// within the device's.  kInvalidArgument names the function, the sizes and the
/// rule broken.
Status CheckLimits(const ir::KernelLaunch& launch, const ir::DeviceInfo& device,
                   const KernelLimits& limits);
Status CheckLimits(const ir::UserLaunch& launch, const ir::DeviceInfo& device,
                   const KernelLimits& limits);

}  // namespace tim::device

#endif  // TIM_DEVICE_LAUNCH_CHECK_H_
