// Which process OpenCL's drivers work in.
#ifndef TIM_DEVICE_OPENCL_FORK_OPENCL_PROCESS_H_
#define TIM_DEVICE_OPENCL_FORK_OPENCL_PROCESS_H_

#include <atomic>
#include <cstdint>

#include "base/fork/fork.h"
#include "base/status.h"

namespace tim::device {

/// Forks() of the process that uses OpenCL, negative before any does.
extern std::atomic<int64_t> g_opencl_process;

/// Whether the process was forked off one that had used OpenCL: it lacks the
/// drivers' threads, and their locks may be held for ever.  No call of OpenCL's
/// is safe then, also none that releases something.
inline bool IsForkedFromOpenCl() {
  const int64_t process = g_opencl_process.load(std::memory_order_relaxed);
  return process >= 0 && process != Forks();
}

/// kDeviceLost, which says what to do.
Status ForkedFromOpenCl();

/// To be called wherever others call into this folder.  As cheap as a load.
inline Status CheckOpenClProcess() {
  return IsForkedFromOpenCl() ? ForkedFromOpenCl() : OkStatus();
}

/// The same before the first call of OpenCL's: processes that are forked off
/// this one from now on will not use it.
Status EnterOpenClProcess();

/// OpenCL's `release`, where the process may call it.
template <auto release, typename Handle>
int ReleaseInProcess(Handle handle) {
  return IsForkedFromOpenCl() ? 0 : release(handle);
}

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_FORK_OPENCL_PROCESS_H_
