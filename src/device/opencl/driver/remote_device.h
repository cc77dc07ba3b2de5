// Devices behind a network, which OpenCL shows like those of this machine.
#ifndef TIM_DEVICE_OPENCL_DRIVER_REMOTE_DEVICE_H_
#define TIM_DEVICE_OPENCL_DRIVER_REMOTE_DEVICE_H_

#include <string_view>

#include "device/opencl/driver/cl_api.h"
#include "ir/device_info.h"

namespace tim::device {

/// Whether a device with this CL_DEVICE_VERSION and CL_DEVICE_NAME is one of
/// PoCL-Remote: one of them says so.  Nothing else does, since all other
/// properties are those of the hardware at the other end.
bool IsRemote(std::string_view version, std::string_view name);
bool IsRemote(const cl::Device& device);

/// Makes of what a remote device says of itself what holds from here: no memory
/// in common with the host, and commands and copies that cost a way through the
/// network, as figures that are replaced where they are measured.  `driver`
/// gets a mark, so that nothing that is kept for the same hardware in this
/// machine (programs, figures, links) is taken for it.
void AdaptToNetwork(ir::DeviceInfo* info);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_REMOTE_DEVICE_H_
