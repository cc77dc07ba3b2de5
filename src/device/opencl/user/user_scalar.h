// A user's scalar in the type of the kernel's parameter.
#ifndef TIM_DEVICE_OPENCL_USER_USER_SCALAR_H_
#define TIM_DEVICE_OPENCL_USER_USER_SCALAR_H_

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "ir/step.h"
#include "kernels/text/c_type.h"

namespace tim::device {

/// The bytes of `scalar` as a `type`, or as a vector of its elements, of which
/// three take the room of four.  Integers go to integer types that hold
/// the value, floating-point numbers to floating-point types, rounded to
/// nearest; an overflow to infinity is an error.
Result<std::vector<std::byte>> ScalarBytes(const ir::UserScalarArg& scalar,
                                           const kernels::CType& type);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_USER_SCALAR_H_
