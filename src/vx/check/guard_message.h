// Message of a guarded run, as data.
#ifndef TIM_VX_CHECK_GUARD_MESSAGE_H_
#define TIM_VX_CHECK_GUARD_MESSAGE_H_

#include <cstdint>
#include <string>

#include "tim/vx/custom_op_check.h"

namespace tim::vx::check {

struct GuardMessage {
  FaultKind kind = FaultKind::kFails;
  std::string operand;   ///< "output 0", "scratch 1", or empty.
  int64_t element = -1;  ///< Index in the operand.
};

/// Fault in the message of a failed Run(); kFails where no guard has found it.
GuardMessage ReadGuardMessage(const std::string& message);

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_GUARD_MESSAGE_H_
