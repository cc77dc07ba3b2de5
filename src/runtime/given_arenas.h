// Memory of the caller for the arenas of a run.
#ifndef TIM_RUNTIME_GIVEN_ARENAS_H_
#define TIM_RUNTIME_GIVEN_ARENAS_H_

#include <span>

#include "base/status.h"
#include "ir/plan.h"
#include "runtime/port_binding.h"

namespace tim::runtime {

/// One for each of plan().arenas: a range of the arena's device, or host
/// memory, aligned to 64 bytes, that it imports.  It holds anything, and must
/// stay until the run has ended, as a port's.  Those without memory, and all
/// where there are none, are the context's own.
using GivenArenas = std::span<const PortMemory>;

/// kInvalidArgument names an arena whose memory is too small, misaligned, or
/// out of reach for its device.
Status CheckArenas(const ir::Plan& plan, GivenArenas arenas);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_GIVEN_ARENAS_H_
