// Steps that are left to the host beside another device.
#ifndef TIM_COMPILER_HOST_STEPS_H_
#define TIM_COMPILER_HOST_STEPS_H_

#include <vector>

#include "compiler/candidates.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Warns, once per graph and process, of the operation of the library that
/// takes most of its time on the host where that is a tenth of the graph's, as
/// estimated: of those that no kernel of another device takes.  chosen[i] and
/// module.decisions[i] are for order[i].
void WarnOfHostSteps(const Module& module, const std::vector<ir::NodeId>& order,
                     const std::vector<Candidate>& chosen);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_HOST_STEPS_H_
