// Images of users' kernels that no tensor can be.
#ifndef TIM_DEVICE_OPENCL_USER_IMAGE_TYPES_H_
#define TIM_DEVICE_OPENCL_USER_IMAGE_TYPES_H_

#include "base/status.h"
#include "ir/step.h"

namespace tim::device {

/// kInvalidArgument names the parameter, as the user wrote it, that is an image
/// other than image2d_t and image2d_array_t.  Read in the text, as compilers
/// call wrong what is done with the image; ok also where macros hide it.
Status CheckImageTypes(const ir::UserLaunch& launch);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_IMAGE_TYPES_H_
