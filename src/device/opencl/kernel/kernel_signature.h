// The parameters of a built kernel of ours against the arguments of a launch.
#ifndef TIM_DEVICE_OPENCL_KERNEL_KERNEL_SIGNATURE_H_
#define TIM_DEVICE_OPENCL_KERNEL_KERNEL_SIGNATURE_H_

#include "base/status.h"
#include "device/opencl/driver/cl_api.h"
#include "ir/step.h"

namespace tim::device {

/// Number of parameters, and for each whether it is a buffer, local memory or
/// a value; and, where the kernel is embedded, that structs are those of their
/// types.  kInvalidArgument shows the signature.
Status CheckSignature(const cl::Kernel& kernel, const ir::KernelLaunch& launch);

/// Parameters that an argument fills: a tensor is a buffer and its element
/// offset.
int ParameterCount(const ir::KernelArg& argument);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_KERNEL_KERNEL_SIGNATURE_H_
