// The parameters of a built kernel against the arguments of a launch.
#ifndef TIM_DEVICE_OPENCL_KERNEL_SIGNATURE_H_
#define TIM_DEVICE_OPENCL_KERNEL_SIGNATURE_H_

#include <string>

#include "base/status.h"
#include "device/opencl/cl_api.h"
#include "ir/step.h"

namespace tim::device {

/// "f(__global float* a, int n)"; types are missing where the driver does not
/// tell them.
std::string SignatureText(const cl::Kernel& kernel);

/// Number of parameters, and for each whether it is a buffer, local memory or
/// a value.  kInvalidArgument shows the signature.
Status CheckSignature(const cl::Kernel& kernel, const ir::KernelLaunch& launch);

/// Parameters that an argument fills: a tensor of a built-in kernel is a
/// buffer and its element offset.
int ParameterCount(const ir::KernelArg& argument);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_KERNEL_SIGNATURE_H_
