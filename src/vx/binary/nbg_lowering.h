// NBGs on their way into an ir::Graph, and out of it.
#ifndef TIM_VX_BINARY_NBG_LOWERING_H_
#define TIM_VX_BINARY_NBG_LOWERING_H_

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {

/// A composite node of the operation's binary graph without operands: a schema
/// of its own in `registry` checks those, and its custom operations are there,
/// too.  The first call makes the states' tensors, in the operation's graph.
/// \param content what the operation has as an NBG.
Result<ir::Node> MakeNbgNode(const OpImpl& operation, NbgContent& content,
                             const ir::OpRegistry& operators,
                             ir::OpRegistry* registry);

/// Takes the checks of MakeNbgNode() out of a graph, in bodies too: what
/// remains can be written.
ir::Graph WithoutChecks(const ir::Graph& graph);

}  // namespace tim::vx

#endif  // TIM_VX_BINARY_NBG_LOWERING_H_
