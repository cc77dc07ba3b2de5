// The arguments of a user's operator against the parameters of its kernel.
#ifndef TIM_DEVICE_OPENCL_USER_USER_SIGNATURE_H_
#define TIM_DEVICE_OPENCL_USER_USER_SIGNATURE_H_

#include "base/status.h"
#include "device/opencl/driver/cl_api.h"
#include "ir/step.h"

namespace tim::device {

/// Checks number, order and types, and sets scalars and local memory.
/// kInvalidArgument has the parameter, the rule, the kernel's signature and
/// what the operator gives.
Status CheckUserSignature(cl::Kernel& kernel, const ir::UserLaunch& launch);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_USER_SIGNATURE_H_
