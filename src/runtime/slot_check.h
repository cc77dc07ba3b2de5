// Whether the slots of a plan fit the memory that they are pieces of.
#ifndef TIM_RUNTIME_SLOT_CHECK_H_
#define TIM_RUNTIME_SLOT_CHECK_H_

#include "base/status.h"
#include "ir/plan.h"

namespace tim::runtime {

/// The plan has passed ir::Verify, and its devices are in range.
Status CheckSlots(const ir::Plan& plan);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_SLOT_CHECK_H_
