// What a user's kernel says that it does with its images.
#ifndef TIM_DEVICE_OPENCL_KERNEL_IMAGE_ACCESS_H_
#define TIM_DEVICE_OPENCL_KERNEL_IMAGE_ACCESS_H_

#include <cstdint>
#include <vector>

#include "ir/step.h"

namespace tim::device {

/// Lowered images have lost it, and the driver's default is as if it were
/// written, so that it is read in the text.
enum class ImageAccess : uint8_t {
  kNotSaid,
  kReadOnly,
  kWriteOnly,
  kReadWrite
};

/// Of each of `count` parameters; kNotSaid also where the text leaves a doubt.
std::vector<ImageAccess> ImageAccessOf(const ir::UserLaunch& launch,
                                       size_t count);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_KERNEL_IMAGE_ACCESS_H_
