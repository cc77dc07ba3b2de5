// Writes a choice of kernels and layouts into the graph.
#ifndef TIM_COMPILER_APPLY_CHOICE_H_
#define TIM_COMPILER_APPLY_CHOICE_H_

#include <vector>

#include "compiler/candidates.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Sets placements, locations and layouts; adds Reorder and transfer nodes
/// (and reordered constants) where an operand is wanted elsewhere.
/// chosen[i] is for order[i].
Status ApplyChoice(Module& module, LocationTable& locations,
                   const std::vector<ir::NodeId>& order,
                   const std::vector<Candidate>& chosen);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_APPLY_CHOICE_H_
