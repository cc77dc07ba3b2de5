// Shared virtual memory of OpenCL.
#ifndef TIM_DEVICE_OPENCL_INTEROP_SHARED_MEMORY_H_
#define TIM_DEVICE_OPENCL_INTEROP_SHARED_MEMORY_H_

#include <cstdint>

#include "base/status.h"
#include "device/device.h"

namespace tim::device {

/// Whether device and loader have SVM.
bool HasSharedMemory(const Device& device);

/// SVM of at least one byte in the device's context: fine-grained where there
/// is such, so that the host needs no mapping.
/// \param alignment a power of two; 0: the device's.
Result<void*> AllocateShared(Device& device, int64_t bytes, int64_t alignment);

/// Memory of AllocateShared() that no work uses any more.
void FreeShared(Device& device, void* memory);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_INTEROP_SHARED_MEMORY_H_
