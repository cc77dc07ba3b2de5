// A failing case made smaller.
#ifndef TIM_VX_CHECK_SHRINK_H_
#define TIM_VX_CHECK_SHRINK_H_

#include <cstdint>

#include "vx/check/trial.h"

namespace tim::vx::check {

struct Failure {
  Prepared prepared;
  Outcome outcome;
  uint32_t steps = 0;  ///< Cases that were tried to make it smaller.
};

/// The smallest case that was found with the same fault on `target`: values in
/// order, extents and ranks as small as the ranges and fit() allow, small
/// work-groups.
Failure Shrink(const Trials& trials, const Target& target, Failure failure);

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_SHRINK_H_
