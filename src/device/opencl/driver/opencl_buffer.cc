// Buffers of OpenCL and their sub-buffers.
#include "device/opencl/driver/opencl_buffer.h"

#include <algorithm>
#include <atomic>

#include "base/exact_cast.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/host_memory.h"

namespace tim::device {
namespace {

uint64_t NextId() {
  static constinit std::atomic<uint64_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Result<cl::Buffer> NewBuffer(const cl::Context& context,
                             const ir::DeviceInfo& device, int64_t bytes) {
  if (bytes < 0) return InvalidArgument("a buffer of ", bytes, " bytes");
  if (bytes > device.max_allocation_bytes) {
    return OutOfMemory("a buffer of ", bytes, " bytes exceeds the ",
                       device.max_allocation_bytes, " that ", device.name,
                       " allocates at once");
  }
  // OpenCL has no empty buffers.
  const int64_t size = std::max<int64_t>(bytes, 1);
  int code = CL_SUCCESS;
  cl::Buffer handle(context, CL_MEM_READ_WRITE, size, nullptr, &code);
  TIM_RETURN_IF_CL_ERROR(code, "allocating ", bytes, " bytes on ", device.name);
  return handle;
}

OpenClBuffer::OpenClBuffer(bool has_sub_buffers, cl::Buffer handle,
                           int64_t bytes, CountedBytes counted)
    : has_sub_buffers_(has_sub_buffers),
      handle_(std::move(handle)),
      whole_(handle_),
      bytes_(bytes),
      counted_(std::move(counted)),
      id_(NextId()) {}

OpenClBuffer::OpenClBuffer(bool has_sub_buffers, cl::Buffer handle,
                           int64_t bytes, cl::Buffer whole, int64_t begin)
    : has_sub_buffers_(has_sub_buffers),
      handle_(std::move(handle)),
      whole_(std::move(whole)),
      begin_(begin),
      bytes_(bytes),
      id_(NextId()) {}

Result<std::unique_ptr<Buffer>> OpenClBuffer::Create(
    const cl::Context& context, const ir::DeviceInfo& device, int64_t bytes) {
  TIM_ASSIGN_OR_RETURN(cl::Buffer handle, NewBuffer(context, device, bytes));
  return std::unique_ptr<Buffer>(new OpenClBuffer(
      HasSubBuffers(device), std::move(handle), bytes, CountedBytes(bytes)));
}

Result<cl::Buffer> OpenClBuffer::OnHostMemory(const cl::Context& context,
                                              void* memory, int64_t bytes) {
  int code = CL_SUCCESS;
  cl::Buffer handle(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                    static_cast<size_t>(bytes), memory, &code);
  TIM_RETURN_IF_CL_ERROR(code, "importing ", bytes, " bytes of host memory");
  return handle;
}

Result<std::unique_ptr<Buffer>> OpenClBuffer::Import(const cl::Context& context,
                                                     void* memory,
                                                     int64_t bytes) {
  return Import(context, memory, bytes, nullptr);
}

Result<std::unique_ptr<Buffer>> OpenClBuffer::Import(
    const cl::Context& context, void* memory, int64_t bytes,
    std::shared_ptr<const void> owner) {
  TIM_ASSIGN_OR_RETURN(cl::Buffer handle, OnHostMemory(context, memory, bytes));
  std::unique_ptr<OpenClBuffer> buffer(
      new OpenClBuffer(true, std::move(handle), bytes, CountedBytes()));
  buffer->owner_ = std::move(owner);
  return std::unique_ptr<Buffer>(std::move(buffer));
}

std::unique_ptr<Buffer> OpenClBuffer::Of(const ir::DeviceInfo& device,
                                         cl::Buffer handle, int64_t bytes,
                                         cl::Buffer whole, int64_t begin) {
  const bool parts = HasSubBuffers(device);
  return std::unique_ptr<Buffer>(new OpenClBuffer(
      parts, parts ? std::move(handle) : whole, bytes, whole, begin));
}

// Parts of buffers that clients made may be as little written, or read.
Result<cl::Buffer> OpenClBuffer::MakeSubBuffer(int64_t offset,
                                               int64_t bytes) const {
  const cl_buffer_region region = {
      static_cast<size_t>(begin_ + offset),
      static_cast<size_t>(std::max<int64_t>(bytes, 1))};
  int code = CL_SUCCESS;
  cl::Buffer whole = whole_;
  const cl_mem_flags access =
      whole.getInfo<CL_MEM_FLAGS>() &
      (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
  cl::Buffer part = whole.createSubBuffer(access, CL_BUFFER_CREATE_TYPE_REGION,
                                          &region, &code);
  TIM_RETURN_IF_CL_ERROR(code, "a sub-buffer of ", bytes, " bytes at ", offset,
                         " in ", bytes_);
  return part;
}

Result<std::unique_ptr<Buffer>> OpenClBuffer::View(int64_t offset,
                                                   int64_t bytes) {
  cl::Buffer handle = whole_;
  if (has_sub_buffers_) {
    TIM_ASSIGN_OR_RETURN(handle, MakeSubBuffer(offset, bytes));
  }
  return std::unique_ptr<Buffer>(new OpenClBuffer(
      has_sub_buffers_, std::move(handle), bytes, whole_, begin_ + offset));
}

const std::byte* OpenClBuffer::AddressAgain(const cl::Device& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (asked_ < 2 && ++asked_ == 2) {
    const auto* const whole = static_cast<const std::byte*>(
        AddressOnDevice(whole_.getInfo<CL_MEM_CONTEXT>(), device, whole_));
    if (whole != nullptr) address_ = whole + begin_ - base();
  }
  return address_;
}

Result<cl::Buffer> OpenClBuffer::SubBuffer(int64_t offset, int64_t bytes) {
  if (offset == 0 && bytes == bytes_ && base() == 0) return handle_;
  if (!has_sub_buffers_) {
    return Unimplemented("a kernel needs ", bytes, " bytes from byte ", offset,
                         " of a buffer as a sub-buffer, which does not reach "
                         "kernels of remote devices");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = sub_buffers_.find({offset, bytes});
  if (known != sub_buffers_.end()) return known->second;
  TIM_ASSIGN_OR_RETURN(const cl::Buffer part, MakeSubBuffer(offset, bytes));
  sub_buffers_[{offset, bytes}] = part;
  return part;
}

Result<OpenClRange> AsOpenCl(const BufferRange& range) {
  auto* buffer = ExactCast<OpenClBuffer>(range.buffer);
  if (buffer == nullptr) {
    return TIM_INTERNAL("an operand is not in the memory of the device");
  }
  return OpenClRange{buffer, buffer->base() + range.offset};
}

// PoCL-Remote tells the server which buffer is an argument, but not which part.
bool HasSubBuffers(const ir::DeviceInfo& device) { return !device.remote; }

}  // namespace tim::device
