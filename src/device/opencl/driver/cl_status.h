// OpenCL error codes as Status: the only place that reads them.
#ifndef TIM_DEVICE_OPENCL_DRIVER_CL_STATUS_H_
#define TIM_DEVICE_OPENCL_DRIVER_CL_STATUS_H_

#include <string_view>

#include "base/status.h"

namespace tim::device {

/// "<what>: CL_OUT_OF_RESOURCES (-5); <what to do>", ok for CL_SUCCESS.
Status ClStatus(int code, std::string_view what);

/// "CL_OUT_OF_RESOURCES", or "unknown OpenCL error".
std::string_view ClErrorName(int code);

/// Returns from the enclosing function where `code` is not CL_SUCCESS; the
/// pieces of its description are put together only then.
#define TIM_RETURN_IF_CL_ERROR(code, ...)                                      \
  do {                                                                         \
    const int tim_cl_code = (code);                                            \
    if (tim_cl_code != 0)                                                      \
      return ::tim::device::ClStatus(tim_cl_code, ::tim::StrCat(__VA_ARGS__)); \
  } while (false)

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_CL_STATUS_H_
