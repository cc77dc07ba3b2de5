// The parts of ir::Verify, in the order in which it calls them: each may rely
// on what those before it have found.
#ifndef TIM_IR_VERIFY_CHECKS_H_
#define TIM_IR_VERIFY_CHECKS_H_

#include <cstddef>

#include "base/status.h"
#include "ir/plan.h"

namespace tim::ir {

/// Devices, arenas, constants, the caller's tensors, states, reports.
Status CheckMemory(const Plan& plan);
/// That slots lie in what they are pieces of, on the device that it is on.
Status CheckSlots(const Plan& plan);
/// Operands, waits and device of a step; its action is not looked at.
Status CheckStep(const Plan& plan, size_t index);
/// The action against the slots of the step's operands.
Status CheckAction(const Plan& plan, const Step& step);
Status CheckLaunch(const Plan& plan, const Step& step,
                   const KernelLaunch& launch);
Status CheckUserLaunch(const Plan& plan, const Step& step,
                       const UserLaunch& launch);
Status CheckHostCall(const Plan& plan, const Step& step, const HostCall& call);
Status CheckDeviceCall(const DeviceCall& call);
Status CheckGraphCall(const Plan& plan, const Step& step,
                      const GraphCall& call);
Status CheckControlCall(const Plan& plan, const Step& step,
                        const ControlCall& call);
Status CheckChains(const Plan& plan);
/// That values which live at the same time lie apart in their arena.
Status CheckOverlaps(const Plan& plan);

/// That steps of several devices, or of several streams of one, which touch the
/// same memory wait for each other, unless both only read.
Status CheckQueueOrder(const Plan& plan);

}  // namespace tim::ir

#endif  // TIM_IR_VERIFY_CHECKS_H_
