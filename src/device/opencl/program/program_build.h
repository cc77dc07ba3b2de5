// One program from a stored binary or from source.
#ifndef TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_BUILD_H_
#define TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_BUILD_H_

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/program/program_source.h"

namespace tim::device {

/// Stores the program that it builds, unless the driver keeps it by itself.  A
/// binary that the driver does not take any more is replaced.  kBuildFailure
/// has name, options, device and the compiler's log.  Any thread.
Result<cl::Program> BuildProgram(const cl::Context& context,
                                 const cl::Device& device,
                                 const ProgramSource& source,
                                 BinaryStore& store);

/// Tells `store` that a prepared step uses the program, where text and options
/// are all that it is made of.
void TellOfUse(const cl::Program& program, const ProgramSource& source,
               BinaryStore& store);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_BUILD_H_
