// OpenCL devices in contexts that a client made.
//
// Handles of OpenCL's C interface are void* here and in interop/: layers above
// do not see its headers.
#ifndef TIM_DEVICE_OPENCL_OPENCL_INTEROP_H_
#define TIM_DEVICE_OPENCL_OPENCL_INTEROP_H_

#include <memory>
#include <string>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"

namespace tim::device {

/// A device that works in the client's context, which it retains.  Threads of
/// its driver do not stay awake for the next run: the client's work needs them.
/// \param device cl_device_id  \param context cl_context
/// kInvalidArgument for null, and for a device that is not of the context.
Result<std::shared_ptr<Device>> CreateOpenClDevice(
    void* device, void* context, const DeviceOptions& options);

/// Whatever may change the meaning of a program's binary: names and versions of
/// device, driver and platform.  kInvalidArgument for null.
Result<std::string> OpenClIdentity(void* device);

/// Whether device `index`, as CreateOpenClDevice() counts, is a GPU or an
/// accelerator; false where it does not exist.
bool IsOpenClAccelerator(int index);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_OPENCL_INTEROP_H_
