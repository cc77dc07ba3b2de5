// How kernels see imported memory of the host.
#ifndef TIM_DEVICE_OPENCL_DRIVER_HOST_MEMORY_H_
#define TIM_DEVICE_OPENCL_DRIVER_HOST_MEMORY_H_

#include "device/opencl/driver/cl_api.h"

namespace tim::device {

/// Whether kernels of this device work in imported memory itself, as the host's
/// own code does, and not in a copy: then it needs no mapping to be seen by the
/// other side.  Found out by asking a CPU where it has such memory; false
/// where it does not say.
bool WorksInHostMemory(const cl::Context& context, const cl::Device& device);

/// Where native kernels find the buffer; null where the device does not say.
/// Waits for a command.
const void* AddressOnDevice(const cl::Context& context,
                            const cl::Device& device, const cl::Buffer& buffer);

/// How a queue hands imported memory to the other side.
enum class Mapping {
  kQueued,   ///< Map and unmap are commands like others.
  kBlocking  ///< The map is waited for before it is unmapped.
};

/// Found out by trying: the first where that works.  Rusticl of Mesa 22 knows a
/// mapping only when it has been made, and fails to unmap what is in the queue.
Mapping MappingOf(const cl::Context& context, const cl::Device& device);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_HOST_MEMORY_H_
