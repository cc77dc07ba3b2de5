// What a compiler says of a user's program, in the user's words.
#ifndef TIM_DEVICE_OPENCL_PROGRAM_BUILD_LOG_H_
#define TIM_DEVICE_OPENCL_PROGRAM_BUILD_LOG_H_

#include <string>

namespace tim::device {

/// `log` with the names that kernels/custom_images.cl replaces, and with a line
/// on what the functions of images take where a call of one fits none.
std::string InUsersWords(std::string log);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PROGRAM_BUILD_LOG_H_
