// What an OpenCL device is and can, from its queries.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_INFO_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_INFO_H_

#include <string>

#include "base/options.h"
#include "device/opencl/driver/opencl_platforms.h"
#include "ir/device_info.h"

namespace tim::device {

/// Whether it is a CPU, whatever kernels it is given; a device that is also a
/// GPU is not.
bool IsCpu(const cl::Device& device);

/// Whether the platform is PoCL, the Portable Computing Language.
bool IsPocl(const cl::Platform& platform);

/// The major version of LLVM that a platform's version tells ("OpenCL 3.0 PoCL
/// 3.1 Linux, RELOC, LLVM 15.0.6, ..."), 0 where it tells none.
int LlvmOf(const std::string& platform_version);

/// Whether its driver keeps what it builds, on disk and for other processes,
/// kernels as they are launched included: PoCL on this machine does.
bool KeepsPrograms(const cl::Device& device);

/// With the kernels that `options` ask for; the device's way to run steps
/// (`orders_stores`, `chains`) is not known yet.
ir::DeviceInfo QueryDeviceInfo(const OpenClDeviceId& id,
                               const DeviceOptions& options);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_INFO_H_
