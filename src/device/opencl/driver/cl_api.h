// OpenCL's C++ bindings as this folder uses them: 1.2 is all that it needs, so
// that old drivers and loaders do, and no exceptions.  A process that was
// forked off one that used OpenCL releases nothing, whatever holds the handles.
#ifndef TIM_DEVICE_OPENCL_DRIVER_CL_API_H_
#define TIM_DEVICE_OPENCL_DRIVER_CL_API_H_

#include "device/opencl/fork/opencl_process.h"

#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_TARGET_OPENCL_VERSION CL_HPP_TARGET_OPENCL_VERSION

// clang-format off
#include <CL/opencl.h>

// The bindings call them as ::clReleaseEvent(event).
#define TIM_CL_RELEASE(name) tim::device::ReleaseInProcess<::name>
#define clReleaseCommandQueue TIM_CL_RELEASE(clReleaseCommandQueue)
#define clReleaseContext TIM_CL_RELEASE(clReleaseContext)
#define clReleaseDevice TIM_CL_RELEASE(clReleaseDevice)
#define clReleaseEvent TIM_CL_RELEASE(clReleaseEvent)
#define clReleaseKernel TIM_CL_RELEASE(clReleaseKernel)
#define clReleaseMemObject TIM_CL_RELEASE(clReleaseMemObject)
#define clReleaseProgram TIM_CL_RELEASE(clReleaseProgram)
#define clReleaseSampler TIM_CL_RELEASE(clReleaseSampler)
#include <CL/opencl.hpp>
#undef clReleaseCommandQueue
#undef clReleaseContext
#undef clReleaseDevice
#undef clReleaseEvent
#undef clReleaseKernel
#undef clReleaseMemObject
#undef clReleaseProgram
#undef clReleaseSampler
#undef TIM_CL_RELEASE
// clang-format on

#endif  // TIM_DEVICE_OPENCL_DRIVER_CL_API_H_
