#include "device/opencl/clblast/clblast_status.h"

#include "device/opencl/clblast/clblast_api.h"
#include "device/opencl/driver/cl_status.h"

namespace tim::device {
namespace {

struct ClblastError {
  clblast::StatusCode code;
  StatusCode status;
  const char* name;
  const char* advice;
};

constexpr char kCall[] = "the call is ours; report it";
constexpr char kDevice[] = "use another device, or TIMCL_KERNELS=cpu";

constexpr ClblastError kErrors[] = {
#define TIM_CLBLAST_ERROR(name, status, advice) \
  { clblast::StatusCode::name, StatusCode::status, #name, advice }
    TIM_CLBLAST_ERROR(kNotImplemented, kUnimplemented, kDevice),
    TIM_CLBLAST_ERROR(kInvalidMatrixA, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidMatrixB, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidMatrixC, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidDimension, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidLeadDimA, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidLeadDimB, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidLeadDimC, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInsufficientMemoryA, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInsufficientMemoryB, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInsufficientMemoryC, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInsufficientMemoryTemp, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidBatchCount, kInternal, kCall),
    TIM_CLBLAST_ERROR(kInvalidOverrideKernel, kInternal, kCall),
    TIM_CLBLAST_ERROR(kMissingOverrideParameter, kInvalidArgument,
                      "parameters of another version; tune again"),
    TIM_CLBLAST_ERROR(kInvalidLocalMemUsage, kUnimplemented, kDevice),
    TIM_CLBLAST_ERROR(kDatabaseError, kInternal, kDevice),
    TIM_CLBLAST_ERROR(kUnknownError, kInternal, kDevice),
    TIM_CLBLAST_ERROR(kUnexpectedError, kInternal, kDevice),
#undef TIM_CLBLAST_ERROR
};

// Codes from here up to 0 are OpenCL's.
constexpr int kLastOfOpenCl = -100;

}  // namespace

Status ClblastStatus(int code, std::string_view what) {
  if (code > kLastOfOpenCl) return ClStatus(code, what);
  for (const ClblastError& error : kErrors) {
    if (static_cast<int>(error.code) != code) continue;
    return Status(error.status, StrCat(what, ": CLBlast's ", error.name, " (",
                                       code, "); ", error.advice));
  }
  return Status(StatusCode::kInternal,
                StrCat(what, ": CLBlast's code ", code, "; ", kDevice));
}

}  // namespace tim::device
