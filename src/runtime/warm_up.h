// The first use of every built-in kernel, before the first run.
#ifndef TIM_RUNTIME_WARM_UP_H_
#define TIM_RUNTIME_WARM_UP_H_

#include <memory>
#include <span>

#include "base/status.h"
#include "device/device.h"
#include "runtime/executable.h"
#include "runtime/run_memory.h"
#include "runtime/step_failures.h"

namespace tim::runtime {

/// Runs the device's own steps once on arenas that it fills with zeros: some
/// drivers compile a kernel when it is first enqueued.  Users' kernels are only
/// built, where the device can (Stream::Build); host steps and copies are left
/// out, and kernels read zeros for what those make: as indices, zeros are
/// within bounds.  States are replaced by zeroed scratch.
/// After a failure that `failures` keeps the other steps run all the same.
Status WarmUp(const Executable& executable, RunMemory& memory,
              std::span<const std::unique_ptr<device::Stream>> streams,
              std::span<const PreparedGroup> prepared, StepFailures* failures);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_WARM_UP_H_
