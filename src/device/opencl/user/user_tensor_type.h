// Which pointers of a user's kernel take which tensors.
#ifndef TIM_DEVICE_OPENCL_USER_USER_TENSOR_TYPE_H_
#define TIM_DEVICE_OPENCL_USER_USER_TENSOR_TYPE_H_

#include <string_view>

#include "base/status.h"
#include "ir/data_type.h"

namespace tim::device {

/// The pointee as the kernel names it, and that name without typedefs
/// (typedef_names.h).  Takes vectors of a type like the type itself, and void.
Status CheckPointee(ir::DataType type, std::string_view written,
                    std::string_view resolved);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_USER_TENSOR_TYPE_H_
