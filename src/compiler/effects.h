// Effects of nodes: what they do besides computing their outputs.
#ifndef TIM_COMPILER_EFFECTS_H_
#define TIM_COMPILER_EFFECTS_H_

#include "ir/graph.h"

namespace tim::compiler {

/// Whether the node, or one in its graphs, has random or ordered effects:
/// every run evaluates such a node, once for each one of the graph.
bool HasEffects(const ir::Node& node);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_EFFECTS_H_
