// Which operations Compile() takes.
#ifndef TIM_VX_GRAPH_EFFECTIVE_OPERATIONS_H_
#define TIM_VX_GRAPH_EFFECTIVE_OPERATIONS_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "tim/vx/operation.h"
#include "vx/core/graph_core.h"

namespace tim::vx {

using Operations = std::vector<std::shared_ptr<Operation>>;

/// The operations of the graph, where overridden ones have given place to their
/// replacements.  Composed operations that were not wired yet are, which may
/// add to `operations`, the graph's OpVector().  Calls code of the user.
Result<Operations> EffectiveOperations(GraphCore& core,
                                       const Operations& operations);

/// Fails where the list holds what cannot be compiled, and wires the composed
/// operations that were not yet, which may add to the list.
Status WireOperations(const GraphCore& core, const Operations& operations);

/// Whether `overrides` names the operation's operator.
bool IsOverridden(const Operation& operation, const Overrides& overrides);

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_EFFECTIVE_OPERATIONS_H_
