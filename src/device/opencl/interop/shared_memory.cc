// Asks drivers of OpenCL 2.0 and later for shared virtual memory, where the
// loader has the calls.
#include "device/opencl/interop/shared_memory.h"

#include <algorithm>
#include <cstddef>

#include "device/opencl/driver/cl_api.h"

// Loaders of OpenCL 1.2 lack them: they are null then.
extern "C" {
__attribute__((weak)) void* CL_API_CALL clSVMAlloc(cl_context, cl_ulong, size_t,
                                                   cl_uint);
__attribute__((weak)) void CL_API_CALL clSVMFree(cl_context, void*);
}

namespace tim::device {
namespace {

// Values of cl.h, which this folder reads as OpenCL 1.2.
constexpr cl_device_info kSvmCapabilities = 0x1053;
constexpr cl_ulong kCoarseGrained = 1 << 0;
constexpr cl_ulong kFineGrained = 1 << 1;
constexpr cl_ulong kFineGrainedFlag = 1 << 10;

cl_ulong CapabilitiesOf(const Device& device) {
  auto* const id =
      static_cast<cl_device_id>(device.NativeHandle("cl_device_id"));
  if (id == nullptr || clSVMAlloc == nullptr || clSVMFree == nullptr) return 0;
  cl_ulong capabilities = 0;
  const int code = clGetDeviceInfo(id, kSvmCapabilities, sizeof(capabilities),
                                   &capabilities, nullptr);
  return code == CL_SUCCESS ? capabilities : 0;
}

cl_context ContextOf(const Device& device) {
  return static_cast<cl_context>(device.NativeHandle("cl_context"));
}

}  // namespace

bool HasSharedMemory(const Device& device) {
  return CheckOpenClProcess().ok() &&
         (CapabilitiesOf(device) & (kCoarseGrained | kFineGrained)) != 0;
}

Result<void*> AllocateShared(Device& device, int64_t bytes, int64_t alignment) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  const ir::DeviceInfo& info = device.info();
  const cl_ulong capabilities = CapabilitiesOf(device);
  if (capabilities == 0) return Unimplemented(info.name, " has no SVM");
  if (bytes < 0) return InvalidArgument("memory of ", bytes, " bytes");
  if (bytes > info.max_allocation_bytes) {
    return OutOfMemory(bytes, " bytes exceed the ", info.max_allocation_bytes,
                       " that ", info.name, " allocates at once");
  }
  const cl_ulong fine =
      (capabilities & kFineGrained) != 0 ? kFineGrainedFlag : 0;
  void* const memory = clSVMAlloc(
      ContextOf(device), CL_MEM_READ_WRITE | fine,
      static_cast<size_t>(std::max<int64_t>(bytes, 1)),
      static_cast<cl_uint>(alignment > 0 ? alignment : info.alignment));
  if (memory != nullptr) return memory;
  return OutOfMemory(info.name, " has no ", bytes, " bytes of SVM");
}

void FreeShared(Device& device, void* memory) {
  if (memory == nullptr || IsForkedFromOpenCl()) return;
  clSVMFree(ContextOf(device), memory);
}

}  // namespace tim::device
