// OpenCL devices.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_DEVICE_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_DEVICE_H_

#include <memory>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"

namespace tim::device {

/// How many devices all platforms have together; 0 without a driver.
int CountOpenClDevices();

/// `index` counts all devices of all platforms, in the loader's order.
/// kNotFound where there is none, kInvalidArgument where there are fewer.
Result<std::shared_ptr<Device>> CreateOpenClDevice(
    int index, const DeviceOptions& options);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_DEVICE_H_
