// Loops over time whose steps are launches, on devices that chain them: the
// work-items of a step share the units, so that every core reads its part of
// the recurrent weights alone, and finds it in its cache in the next step.
#ifndef TIM_OPS_LAUNCH_LOOP_LAUNCHES_H_
#define TIM_OPS_LAUNCH_LOOP_LAUNCHES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/device_info.h"
#include "ir/kernel_def.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// Whether a step of so many operations is worth a launch of its own, and the
/// steps are not too many for a plan.  Else a work-item makes all steps of some
/// sequences.
bool StepsAreLaunches(double flops_of_step, int64_t steps,
                      const ir::DeviceInfo& device);

/// Sequences of a work-item of such a launch.
int64_t RowsOfStep(int64_t batch, const ir::DeviceInfo& device);

/// Adds `launch`, which is that of step 0, once with each option of `parts`,
/// and all of these again for each further step.  Its parameters `begin` and
/// `end`, ints, are 0 and 1, and count the steps; it may write all scratch
/// memory that it reads.
Status AppendStepLaunches(const Launch& launch,
                          const std::vector<std::string>& parts, int64_t steps,
                          ir::Lowering* lowering);

/// The last launch of `lowering` may write all scratch memory that it reads.
void MarkScratchWritten(ir::Lowering* lowering);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_LOOP_LAUNCHES_H_
