// What a host call stands for: a node, or a body.
#ifndef TIM_IR_VERIFY_HOST_NODE_H_
#define TIM_IR_VERIFY_HOST_NODE_H_

#include <span>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/step.h"

namespace tim::ir {

/// A node of `call`'s operator, attributes and operands, where the registry has
/// the operator and the node keeps its rules: kInvalidArgument says which not.
/// Its operands are numbered, and its outputs as large as the operator makes
/// them, so that OpSchema::eval stays within them.
Result<Node> MakeHostNode(const HostCall& call, const OpRegistry& operators);

/// Whether the call's body has its operands and all nodes in it keep their
/// rules: kInvalidArgument says which do not.
Status CheckHostBody(const HostCall& call);

/// Whether all nodes of a part that a device compiles keep their rules; they
/// need no host reference.
Status CheckPart(const Graph& part);

}  // namespace tim::ir

#endif  // TIM_IR_VERIFY_HOST_NODE_H_
