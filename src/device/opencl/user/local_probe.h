// How much __local memory a user's kernel declares, for drivers that do not
// count it: PoCL 4 to 6 report 0, and end the process when it is too much.
#ifndef TIM_DEVICE_OPENCL_USER_LOCAL_PROBE_H_
#define TIM_DEVICE_OPENCL_USER_LOCAL_PROBE_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "device/opencl/driver/cl_api.h"
#include "ir/step.h"

namespace tim::device {

/// The launch's text with a kernel kLocalProbe after each definition of its
/// function; empty where these show no __local memory.  The compiler adds the
/// sizes up: the probe declares what the function declares as one struct.
std::string LocalProbeText(const ir::UserLaunch& launch);

inline constexpr char kLocalProbe[] = "tim_local_probe";

/// Of a built LocalProbeText.
Result<int64_t> ProbedLocalBytes(const cl::Program& program,
                                 const cl::Device& device);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_USER_LOCAL_PROBE_H_
