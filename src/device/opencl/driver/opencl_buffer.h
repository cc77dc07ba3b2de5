// Memory of an OpenCL device.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_BUFFER_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/memory_count.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "ir/device_info.h"

namespace tim::device {

/// Device memory of at least one byte.  kOutOfMemory where it is more than the
/// device allocates at once.
Result<cl::Buffer> NewBuffer(const cl::Context& context,
                             const ir::DeviceInfo& device, int64_t bytes);

class OpenClBuffer final : public Buffer {
 public:
  static Result<std::unique_ptr<Buffer>> Create(const cl::Context& context,
                                                const ir::DeviceInfo& device,
                                                int64_t bytes);

  /// On memory of the host, which must outlive it.
  static Result<std::unique_ptr<Buffer>> Import(const cl::Context& context,
                                                void* memory, int64_t bytes);
  /// On memory that `owner` keeps, which lives as long as the buffer.
  static Result<std::unique_ptr<Buffer>> Import(
      const cl::Context& context, void* memory, int64_t bytes,
      std::shared_ptr<const void> owner);

  /// A buffer that somebody else made on `device`.
  /// \param whole what it is a part of from byte `begin` on, or itself.
  static std::unique_ptr<Buffer> Of(const ir::DeviceInfo& device,
                                    cl::Buffer handle, int64_t bytes,
                                    cl::Buffer whole, int64_t begin);

  int64_t bytes() const override { return bytes_; }
  /// Never given twice in a process, unlike addresses and handles.
  uint64_t id() const { return id_; }
  const cl::Buffer& handle() const { return handle_; }
  /// Where it begins in handle(), in bytes: 0 but for parts of a buffer on a
  /// device whose kernels get the whole for a sub-buffer.
  int64_t base() const { return has_sub_buffers_ ? 0 : begin_; }

  Result<std::unique_ptr<Buffer>> View(int64_t offset, int64_t bytes) override;

  /// Where handle() lies, for a device that works in the host's memory (see
  /// host_memory.h).  To find out takes a command, so that null is the answer
  /// to the first who asks, of memory that may be gone soon; and where the
  /// device does not say.  Any thread.
  const std::byte* AddressAgain(const cl::Device& device);

  /// The buffer itself, or a sub-buffer that lives as long as it;
  /// kUnimplemented where kernels get no sub-buffers.  Contexts share
  /// constants, so any thread.
  Result<cl::Buffer> SubBuffer(int64_t offset, int64_t bytes);

 private:
  OpenClBuffer(bool has_sub_buffers, cl::Buffer handle, int64_t bytes,
               CountedBytes counted);
  OpenClBuffer(bool has_sub_buffers, cl::Buffer handle, int64_t bytes,
               cl::Buffer whole, int64_t begin);
  Result<cl::Buffer> MakeSubBuffer(int64_t offset, int64_t bytes) const;
  static Result<cl::Buffer> OnHostMemory(const cl::Context& context,
                                         void* memory, int64_t bytes);

  // Owner of the memory; the handles go before.
  std::shared_ptr<const void> owner_;
  const bool has_sub_buffers_;
  const cl::Buffer handle_;
  // What sub-buffers are made of, which OpenCL does not make of sub-buffers.
  const cl::Buffer whole_;
  const int64_t begin_ = 0;
  const int64_t bytes_;
  const CountedBytes counted_;
  const uint64_t id_;
  std::mutex mutex_;
  std::map<std::pair<int64_t, int64_t>, cl::Buffer> sub_buffers_;
  int asked_ = 0;  // for the address
  const std::byte* address_ = nullptr;
};

/// A range as commands and kernels take it.
struct OpenClRange {
  const cl::Buffer& handle() const { return buffer->handle(); }

  OpenClBuffer* buffer = nullptr;
  int64_t offset = 0;  ///< In handle(), in bytes.
};

/// kInternal where the range is not of an OpenCL device.
Result<OpenClRange> AsOpenCl(const BufferRange& range);

/// Whether kernels of the device get a sub-buffer as what it is.
bool HasSubBuffers(const ir::DeviceInfo& device);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_BUFFER_H_
