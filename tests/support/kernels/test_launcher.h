// Runs single kernel launches and matrix products on the first OpenCL device,
// for kernel_runner.
#ifndef TIM_TESTS_SUPPORT_KERNELS_TEST_LAUNCHER_H_
#define TIM_TESTS_SUPPORT_KERNELS_TEST_LAUNCHER_H_

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/step.h"

namespace tim::testing {

/// Description of the first OpenCL device.
const ir::DeviceInfo& TestDevice();

/// Whether its arithmetic of float32 keeps subnormal numbers, which OpenCL
/// leaves to devices (CL_FP_DENORM).
bool TestDeviceKeepsSubnormals();

/// Operands with the same bytes lie in the same memory.
struct LaunchOperand {
  std::vector<std::byte>* bytes = nullptr;
  bool written = false;
};

/// What lies around operands where a test does not say it.
inline constexpr auto kGuardByte = std::byte{0xC3};

/// Builds (cached in the process) and runs `launch`, waits, and reads written
/// operands back.  Every operand lies between guards; an error tells which was
/// overwritten, or which read-only operand was changed.
Status RunLaunch(const ir::KernelLaunch& launch,
                 const std::vector<LaunchOperand>& operands,
                 std::byte guard = kGuardByte);
Status RunLaunch(const ir::UserLaunch& launch,
                 const std::vector<LaunchOperand>& operands,
                 std::byte guard = kGuardByte);

/// The same for an action as it is.
Status RunAction(const ir::Action& action,
                 const std::vector<LaunchOperand>& operands,
                 std::byte guard = kGuardByte);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_KERNELS_TEST_LAUNCHER_H_
