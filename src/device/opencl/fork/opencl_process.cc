// Remembers which process has begun to use OpenCL.
#include "device/opencl/fork/opencl_process.h"

namespace tim::device {

constinit std::atomic<int64_t> g_opencl_process = -1;

Status ForkedFromOpenCl() {
  return DeviceLost(
      "this process was forked off one that had used OpenCL, whose drivers do "
      "not work in it: fork before OpenCL is first used (by Context::Create(), "
      "IDevice::Enumerate() or Execution::Create()), or start the process anew "
      "(posix_spawn() or exec()); the host device works here");
}

Status EnterOpenClProcess() {
  int64_t process = -1;
  g_opencl_process.compare_exchange_strong(process, Forks());
  return CheckOpenClProcess();
}

}  // namespace tim::device
