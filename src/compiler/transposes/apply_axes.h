// Puts Transposes where the nodes' axes differ, and nowhere else.
#ifndef TIM_COMPILER_TRANSPOSES_APPLY_AXES_H_
#define TIM_COMPILER_TRANSPOSES_APPLY_AXES_H_

#include "base/status.h"
#include "compiler/module.h"
#include "compiler/transposes/nets.h"

namespace tim::compiler {

/// The nodes compute in these axes.  Graph inputs, states and what leaves the
/// graph stay as they are.  Constants are permuted at once.  Where the bytes
/// stay in their order a Reshape, which is a view, stands for a Transpose.
/// `nets` are those of module.graph, and out of date afterwards.
Status ApplyAxes(Module& module, const Nets& nets, const PermutedNodes& nodes);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_TRANSPOSES_APPLY_AXES_H_
