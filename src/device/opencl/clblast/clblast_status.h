// CLBlast's error codes as Status: the only place that reads them.
#ifndef TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_STATUS_H_
#define TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_STATUS_H_

#include <string_view>

#include "base/status.h"

namespace tim::device {

/// "<what>: CLBlast's kInvalidDimension (-1017); <what to do>"; codes that are
/// OpenCL's read as those, 0 is ok.
Status ClblastStatus(int code, std::string_view what);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_STATUS_H_
