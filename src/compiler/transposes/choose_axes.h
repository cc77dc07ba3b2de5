// In which order of axes each node computes, so that few bytes are transposed.
#ifndef TIM_COMPILER_TRANSPOSES_CHOOSE_AXES_H_
#define TIM_COMPILER_TRANSPOSES_CHOOSE_AXES_H_

#include <functional>

#include "compiler/transposes/nets.h"

namespace tim::compiler {

/// A local optimum: from the order that one net is driven or read in, all nodes
/// that could compute in the order that follows from it for them are found, and
/// the cheapest set of them is taken (a minimal cut), as long as that lowers
/// the cost.  `stays` names nodes that keep their axes.
PermutedNodes ChooseAxes(const Nets& nets,
                         const std::function<bool(const ir::Node&)>& stays);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_TRANSPOSES_CHOOSE_AXES_H_
