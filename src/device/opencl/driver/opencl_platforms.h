// The OpenCL devices of this machine, in the loader's order, and their cores.
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

/// Into how many cores the device can be parted: its compute units, where it
/// makes sub-devices of any number of them; else 1.
int CountCores(const cl::Device& device);

/// The sub-device of `count` cores from `first` on, which the caller has
/// checked; the device itself where these are all.  The same cores are the
/// same sub-device, however often they are asked for.
Result<OpenClDeviceId> CoresOf(const OpenClDeviceId& id, int first, int count);

/// Sub-devices of units / `parts` compute units each, and of the units of a
/// memory domain each, the device itself where it has one.  kInvalidArgument
/// and kUnimplemented where the device has fewer units or cannot be divided so.
/// Equal divisions are the same sub-devices, however often they are asked for.
Result<std::vector<OpenClDeviceId>> DivideEqually(const OpenClDeviceId& id,
                                                  int parts);
Result<std::vector<OpenClDeviceId>> DivideByMemory(const OpenClDeviceId& id);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_PLATFORMS_H_
