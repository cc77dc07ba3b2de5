// Which pointers of a user's kernel take which tensors.
#ifndef TIM_DEVICE_OPENCL_USER_TENSOR_TYPE_H_
#define TIM_DEVICE_OPENCL_USER_TENSOR_TYPE_H_

#include <string_view>

#include "base/status.h"
#include "ir/data_type.h"

namespace tim::device {

/// `pointee` is a plain name (c_type.h).  Takes vectors of a type like the type
/// itself, void, and whatever is no builtin type: a struct or a typedef.
Status CheckPointee(ir::DataType type, std::string_view pointee);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_TENSOR_TYPE_H_
