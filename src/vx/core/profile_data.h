// Profiles as clients see them.
#ifndef TIM_VX_CORE_PROFILE_DATA_H_
#define TIM_VX_CORE_PROFILE_DATA_H_

#include "runtime/profile.h"
#include "tim/vx/profile.h"

namespace tim::vx {

/// Means and rates of the sums of a profiler.
GraphProfile ProfileOf(const runtime::RunProfile& sums);

}  // namespace tim::vx

#endif  // TIM_VX_CORE_PROFILE_DATA_H_
