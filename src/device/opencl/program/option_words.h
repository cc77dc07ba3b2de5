// Options of a user's program as drivers cut them into words.
#ifndef TIM_DEVICE_OPENCL_PROGRAM_OPTION_WORDS_H_
#define TIM_DEVICE_OPENCL_PROGRAM_OPTION_WORDS_H_

#include <string>
#include <string_view>

namespace tim::device {

/// What is likely wrong where a program with `options` does not build: an
/// option whose value has spaces or quotes, and ways around it.  Else "".
std::string HintOnSpaces(std::string_view options);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PROGRAM_OPTION_WORDS_H_
