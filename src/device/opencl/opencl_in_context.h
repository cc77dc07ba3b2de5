// OpenCL devices in contexts that were made before.
#ifndef TIM_DEVICE_OPENCL_OPENCL_IN_CONTEXT_H_
#define TIM_DEVICE_OPENCL_OPENCL_IN_CONTEXT_H_

#include <memory>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/opencl_platforms.h"

namespace tim::device {

/// A device of `context`, which the caller knows to be one: contexts of PoCL do
/// not list parts of devices.
std::shared_ptr<Device> MakeOpenClDevice(OpenClDeviceId id, cl::Context context,
                                         DeviceOptions options);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_OPENCL_IN_CONTEXT_H_
