#include "device/opencl/driver/cl_status.h"

#include "device/opencl/driver/cl_api.h"

namespace tim::device {
namespace {

struct ClError {
  int code;
  StatusCode status;
  const char* name;
  const char* advice;
};

constexpr char kLess[] =
    "use smaller tensors, fewer graphs at a time, or another device";
constexpr char kNewContext[] =
    "release the context and create a new one; the driver's log may say why";
constexpr char kDriver[] =
    "the driver refused a call that should be valid; check its version";
constexpr char kSizes[] = "check the work sizes of the kernel";
constexpr char kLog[] = "see the build log";
constexpr char kInstall[] =
    "install an OpenCL driver; for CPUs it is the package pocl-opencl-icd on "
    "Debian and Ubuntu";
constexpr char kSource[] = "check the kernel's source and options";
// What NVIDIA's driver gives after a kernel accessed an illegal address.
constexpr int kNvidiaIllegalAccess = -9999;

constexpr ClError kErrors[] = {
#define TIM_CL_ERROR(name, status, advice) \
  { name, StatusCode::status, #name, advice }
    TIM_CL_ERROR(CL_DEVICE_NOT_FOUND, kNotFound, kInstall),
    TIM_CL_ERROR(CL_DEVICE_NOT_AVAILABLE, kDeviceLost, kNewContext),
    TIM_CL_ERROR(CL_COMPILER_NOT_AVAILABLE, kUnimplemented,
                 "this driver cannot build kernels from source"),
    TIM_CL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE, kOutOfMemory, kLess),
    TIM_CL_ERROR(CL_OUT_OF_RESOURCES, kOutOfMemory, kLess),
    TIM_CL_ERROR(CL_OUT_OF_HOST_MEMORY, kOutOfMemory, kLess),
    TIM_CL_ERROR(CL_MEM_COPY_OVERLAP, kInternal, kDriver),
    TIM_CL_ERROR(CL_BUILD_PROGRAM_FAILURE, kBuildFailure, kLog),
    TIM_CL_ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET, kInternal, kDriver),
    TIM_CL_ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, kInternal,
                 "an earlier command failed"),
    TIM_CL_ERROR(CL_COMPILE_PROGRAM_FAILURE, kBuildFailure, kLog),
    TIM_CL_ERROR(CL_LINK_PROGRAM_FAILURE, kBuildFailure, kLog),
    TIM_CL_ERROR(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_VALUE, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_PLATFORM, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_DEVICE, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_CONTEXT, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_COMMAND_QUEUE, kDeviceLost, kNewContext),
    TIM_CL_ERROR(CL_INVALID_MEM_OBJECT, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_BINARY, kBuildFailure, kDriver),
    TIM_CL_ERROR(CL_INVALID_BUILD_OPTIONS, kInvalidArgument, kSource),
    TIM_CL_ERROR(CL_INVALID_PROGRAM, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_PROGRAM_EXECUTABLE, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_KERNEL_NAME, kInvalidArgument, kSource),
    TIM_CL_ERROR(CL_INVALID_KERNEL_DEFINITION, kInvalidArgument, kSource),
    TIM_CL_ERROR(CL_INVALID_KERNEL, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_ARG_INDEX, kInvalidArgument, kSource),
    TIM_CL_ERROR(CL_INVALID_ARG_VALUE, kInvalidArgument, kSource),
    TIM_CL_ERROR(CL_INVALID_ARG_SIZE, kInvalidArgument,
                 "the kernel's parameter has another type"),
    TIM_CL_ERROR(CL_INVALID_KERNEL_ARGS, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_WORK_DIMENSION, kInvalidArgument, kSizes),
    TIM_CL_ERROR(CL_INVALID_WORK_GROUP_SIZE, kInvalidArgument, kSizes),
    TIM_CL_ERROR(CL_INVALID_WORK_ITEM_SIZE, kInvalidArgument, kSizes),
    TIM_CL_ERROR(CL_INVALID_GLOBAL_OFFSET, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_EVENT_WAIT_LIST, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_EVENT, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_OPERATION, kInternal, kDriver),
    TIM_CL_ERROR(CL_INVALID_BUFFER_SIZE, kOutOfMemory, kLess),
    TIM_CL_ERROR(CL_INVALID_GLOBAL_WORK_SIZE, kInvalidArgument, kSizes),
#undef TIM_CL_ERROR
    {-1001, StatusCode::kNotFound, "CL_PLATFORM_NOT_FOUND_KHR", kInstall},
    {kNvidiaIllegalAccess, StatusCode::kDeviceLost, "illegal memory access",
     kNewContext},
};

constexpr ClError kUnknown = {0, StatusCode::kInternal, "unknown OpenCL error",
                              kDriver};

const ClError& Find(int code) {
  for (const ClError& error : kErrors) {
    if (error.code == code) return error;
  }
  return kUnknown;
}

}  // namespace

Status ClStatus(int code, std::string_view what) {
  if (code == CL_SUCCESS) return OkStatus();
  const ClError& error = Find(code);
  return Status(error.status, StrCat(what, ": ", error.name, " (", code, "); ",
                                     error.advice));
}

std::string_view ClErrorName(int code) { return Find(code).name; }

}  // namespace tim::device
