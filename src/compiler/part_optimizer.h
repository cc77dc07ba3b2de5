// Edits that a device's own compiler makes of graphs, checked.
#ifndef TIM_COMPILER_PART_OPTIMIZER_H_
#define TIM_COMPILER_PART_OPTIMIZER_H_

#include "base/status.h"
#include "compiler/module.h"
#include "ir/graph.h"
#include "ir/part_def.h"

namespace tim::compiler {

/// Makes the edits of PartDef::optimize in the body of a part's node.  Edits
/// that change what the graph takes or gives, or break a rule, are dropped with
/// a warning and a decision that name the device and the rule; where the
/// options are strict they fail.
Status OptimizePart(Module& module, const ir::PartDef& def, int device,
                    ir::Node* part);

/// The same of the module's graph where it is compiled for one device beside
/// the host, whose compiler offers it.
Status OptimizeWhole(Module& module, int level);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_PART_OPTIMIZER_H_
