// Memory of a client as memory of a device.
#ifndef TIM_DEVICE_OPENCL_INTEROP_CLIENT_MEMORY_H_
#define TIM_DEVICE_OPENCL_INTEROP_CLIENT_MEMORY_H_

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/device.h"

namespace tim::device {

/// Runs are given `buffer` where `offset` is 0; elsewhere a ClientRun copies.
struct ClientMemory {
  std::unique_ptr<Buffer> buffer = nullptr;  ///< Begins where devices want it.
  int64_t offset = 0;                        ///< Of the memory in `buffer`.
  int64_t bytes = 0;
};

/// `bytes` bytes from `offset` of a cl_mem of the device's context, a buffer or
/// a part of one, which is retained.  kInvalidArgument for others, and for
/// bytes beyond its end.
Result<ClientMemory> WrapMemObject(Device& device, void* memory, int64_t offset,
                                   int64_t bytes);

/// SVM of the device's context, or USM that the host reaches too; it outlives
/// the result.  The client maps coarse-grained SVM to read or write it.
Result<ClientMemory> WrapPointer(Device& device, void* pointer, int64_t bytes);

/// A buffer on memory as WrapPointer() takes it, or on the host's where the
/// device works there, that begins where the device wants it.  It keeps
/// `owner`, whose memory it is.
Result<std::unique_ptr<Buffer>> BufferOn(Device& device, void* pointer,
                                         int64_t bytes,
                                         std::shared_ptr<const void> owner);

/// A new cl_mem of `bytes` bytes, or at least one, which the caller owns.
Result<void*> AllocateMemObject(Device& device, int64_t bytes);
void ReleaseMemObject(void* memory);
/// Whether it is a buffer of the device's context; kInvalidArgument says why
/// not.
Status CheckMemObject(Device& device, void* memory);

struct MemObjectPart {
  void* memory = nullptr;  ///< A cl_mem.
  int64_t offset = 0;
};

/// Where a range of a buffer of an OpenCL device is, in a cl_mem that lives as
/// long as the buffer; null for buffers of others.
MemObjectPart MemObjectOf(const BufferRange& range);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_INTEROP_CLIENT_MEMORY_H_
