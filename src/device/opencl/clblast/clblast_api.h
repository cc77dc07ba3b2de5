// CLBlast as this folder uses it, with the version of OpenCL that cl_api.h asks
// for.
#ifndef TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_API_H_
#define TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_API_H_

// clang-format off
#include "device/opencl/driver/cl_api.h"
#include <clblast.h>
// clang-format on

#endif  // TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_API_H_
