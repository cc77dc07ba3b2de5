// Wraps cl_mem objects and pointers of a client.
#include "device/opencl/interop/client_memory.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_buffer.h"

namespace tim::device {
namespace {

struct MemObject {
  cl::Buffer handle;
  cl::Buffer whole;   ///< Parent of a sub-buffer, else the buffer itself.
  int64_t begin = 0;  ///< In `whole`.
  int64_t bytes = 0;
};

Result<cl_context> ContextOf(const Device& device) {
  void* const context = device.NativeHandle("cl_context");
  if (context != nullptr) return static_cast<cl_context>(context);
  return InvalidArgument(device.info().name, " is no OpenCL device");
}

template <typename T>
int Query(const cl::Buffer& buffer, cl_mem_info info, T* value) {
  return clGetMemObjectInfo(buffer(), info, sizeof(T), value, nullptr);
}

Result<MemObject> Describe(cl_context context, cl_mem memory) {
  MemObject object;
  object.handle = cl::Buffer(memory, true);
  object.whole = object.handle;
  cl_mem_object_type type = 0;
  cl_context own = nullptr;
  size_t bytes = 0;
  size_t begin = 0;
  cl_mem parent = nullptr;
  int code = Query(object.handle, CL_MEM_TYPE, &type);
  if (code == CL_SUCCESS) code = Query(object.handle, CL_MEM_CONTEXT, &own);
  if (code == CL_SUCCESS) code = Query(object.handle, CL_MEM_SIZE, &bytes);
  if (code == CL_SUCCESS) {
    code = Query(object.handle, CL_MEM_ASSOCIATED_MEMOBJECT, &parent);
  }
  if (code == CL_SUCCESS && parent != nullptr) {
    code = Query(object.handle, CL_MEM_OFFSET, &begin);
    object.whole = cl::Buffer(parent, true);
  }
  TIM_RETURN_IF_CL_ERROR(code, "asking a cl_mem what it is");
  if (type != CL_MEM_OBJECT_BUFFER) {
    return InvalidArgument("the cl_mem is no buffer; images are not taken");
  }
  if (own != context) {
    return InvalidArgument("the cl_mem is of another context than the device");
  }
  object.begin = static_cast<int64_t>(begin);
  object.bytes = static_cast<int64_t>(bytes);
  return object;
}

}  // namespace

Result<ClientMemory> WrapMemObject(Device& device, void* memory, int64_t offset,
                                   int64_t bytes) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  if (memory == nullptr) return InvalidArgument("the cl_mem is null");
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  TIM_ASSIGN_OR_RETURN(const MemObject object,
                       Describe(context, static_cast<cl_mem>(memory)));
  if (offset < 0 || bytes < 0 || offset > object.bytes ||
      bytes > object.bytes - offset) {
    return InvalidArgument("the cl_mem has ", object.bytes, " bytes; ", bytes,
                           " from byte ", offset, " are more");
  }
  ClientMemory result{.bytes = bytes};
  if (offset == 0 && object.begin % device.info().alignment == 0) {
    result.buffer = OpenClBuffer::Of(device.info(), object.handle, bytes,
                                     object.whole, object.begin);
    return result;
  }
  const int64_t place = object.begin + offset;
  result.offset = place % device.info().alignment;
  const auto whole = OpenClBuffer::Of(device.info(), object.whole,
                                      place + bytes, object.whole, 0);
  TIM_ASSIGN_OR_RETURN(
      result.buffer, whole->View(place - result.offset, result.offset + bytes));
  return result;
}

Result<ClientMemory> WrapPointer(Device& device, void* pointer, int64_t bytes) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  if (pointer == nullptr) return InvalidArgument("the pointer is null");
  if (bytes < 0) return InvalidArgument("memory of ", bytes, " bytes");
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  // Allocations begin at a multiple of the size of the largest type, long16;
  // what lies before them may be another's.
  constexpr int64_t kSvmAlignment = 128;
  const int64_t alignment = std::min(kSvmAlignment, device.info().alignment);
  const auto slack = static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer) %
                                          static_cast<uintptr_t>(alignment));
  ClientMemory result{.offset = slack, .bytes = bytes};
  TIM_ASSIGN_OR_RETURN(
      result.buffer,
      OpenClBuffer::Import(cl::Context(context, true),
                           static_cast<std::byte*>(pointer) - slack,
                           bytes > 0 ? slack + bytes : slack + 1));
  return result;
}

Result<std::unique_ptr<Buffer>> BufferOn(Device& device, void* pointer,
                                         int64_t bytes,
                                         std::shared_ptr<const void> owner) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  return OpenClBuffer::Import(cl::Context(context, true), pointer, bytes,
                              std::move(owner));
}

Result<void*> AllocateMemObject(Device& device, int64_t bytes) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  TIM_ASSIGN_OR_RETURN(
      const cl::Buffer buffer,
      NewBuffer(cl::Context(context, true), device.info(), bytes));
  clRetainMemObject(buffer());
  return buffer();
}

void ReleaseMemObject(void* memory) {
  if (memory == nullptr) return;
  ReleaseInProcess<::clReleaseMemObject>(static_cast<cl_mem>(memory));
}

Status CheckMemObject(Device& device, void* memory) {
  return WrapMemObject(device, memory, 0, 0).status();
}

MemObjectPart MemObjectOf(const BufferRange& range) {
  const auto own = AsOpenCl(range);
  if (!own.ok()) return {};
  return {.memory = own->handle()(), .offset = own->offset};
}

}  // namespace tim::device
