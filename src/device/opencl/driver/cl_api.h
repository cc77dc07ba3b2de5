// OpenCL's C++ bindings as this folder uses them: 1.2 is all that it needs, so
// that old drivers and loaders do, and no exceptions.
#ifndef TIM_DEVICE_OPENCL_DRIVER_CL_API_H_
#define TIM_DEVICE_OPENCL_DRIVER_CL_API_H_

#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120

// clang-format off
#include <CL/opencl.hpp>
// clang-format on

#endif  // TIM_DEVICE_OPENCL_DRIVER_CL_API_H_
