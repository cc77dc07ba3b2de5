// What stands before the elements of an image parameter of a user's kernel.
#ifndef TIM_DEVICE_OPENCL_USER_IMAGE_HEADER_H_
#define TIM_DEVICE_OPENCL_USER_IMAGE_HEADER_H_

#include <cstdint>

#include "base/status.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/kernel/kernel_parameter.h"
#include "ir/step.h"

namespace tim::device {

/// As in kernels/custom_images.cl, where it is followed by padding.
struct ImageHeader {
  cl_int width = 1;
  cl_int height = 1;
  cl_int layers = 1;
  cl_int type = 0;
};
inline constexpr int64_t kImageHeaderBytes = 64;  ///< With the padding.

/// Whether an image of that kind can show `tensor`; `kind` is not kNone.
Status CheckImage(ImageKind kind, const ir::UserTensorArg& tensor);

/// Of a tensor that CheckImage accepts.
Result<ImageHeader> ImageHeaderOf(const ir::UserTensorArg& tensor);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_IMAGE_HEADER_H_
