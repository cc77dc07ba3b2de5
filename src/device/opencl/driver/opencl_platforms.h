// The OpenCL devices of this machine, in the loader's order.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_PLATFORMS_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_PLATFORMS_H_

#include <vector>

#include "base/status.h"
#include "device/opencl/driver/cl_api.h"

namespace tim::device {

struct OpenClDeviceId {
  cl::Platform platform;
  cl::Device device;
};

/// Every available device of every platform.  kNotFound says what to install.
Result<std::vector<OpenClDeviceId>> EnumerateOpenClDevices();

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_PLATFORMS_H_
