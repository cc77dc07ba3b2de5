// Which class of devices a kernel is made for.
#ifndef TIM_OPS_LAUNCH_DEVICE_CLASS_H_
#define TIM_OPS_LAUNCH_DEVICE_CLASS_H_

#include "base/status.h"
#include "ir/device_info.h"

namespace tim::ops {

/// For kernels whose work-items make a tile each in explicit vectors: ok on
/// CPUs, or the reason why not.
Status CheckCpu(const ir::DeviceInfo& device);

/// For kernels whose work-items share neighbouring elements: ok on everything
/// that is no CPU, or the reason why not.
Status CheckNoCpu(const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_DEVICE_CLASS_H_
