// Effects of nodes: what they do besides computing their outputs.
#ifndef TIM_COMPILER_EFFECTS_H_
#define TIM_COMPILER_EFFECTS_H_

#include "ir/graph.h"

namespace tim::compiler {

/// Whether the node, or one in its graphs, has random or ordered effects:
/// every run evaluates such a node, once for each one of the graph.  A decision
/// or a loop has those of its graphs.
bool HasEffects(const ir::Node& node);

/// Whether the node, or one in its graphs, is a decision or a loop: what it
/// evaluates, and how often, follows from values of the run.
bool HasControl(const ir::Node& node);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_EFFECTS_H_
