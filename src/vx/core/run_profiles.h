// Profiles that TIMCL_PROFILE=1 prints.
#ifndef TIM_VX_CORE_RUN_PROFILES_H_
#define TIM_VX_CORE_RUN_PROFILES_H_

#include <memory>

#include "runtime/compiled_graph.h"
#include "runtime/profile.h"

namespace tim::vx {

/// The profiler of all runs of the graph from now on, where TIMCL_PROFILE=1,
/// else null.  Its table goes to stderr when nobody has the profiler any more,
/// or else when the process exits; of a graph that was never run there is none.
std::shared_ptr<runtime::Profiler> ProfileIfAsked(
    runtime::CompiledGraph& graph);

}  // namespace tim::vx

#endif  // TIM_VX_CORE_RUN_PROFILES_H_
