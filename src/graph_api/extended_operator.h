// Registered operations as operators that the compiler knows.
#ifndef TIM_GRAPH_API_EXTENDED_OPERATOR_H_
#define TIM_GRAPH_API_EXTENDED_OPERATOR_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "graph_api/extended_op.h"
#include "graph_api/op.h"
#include "ir/attribute.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"

namespace tim::graph {

/// Adds schema and kernel.
///
/// One with a decomposition becomes a composite, which its kernel may claim,
/// and whose body is the decomposition; where that says kUnimplemented, the
/// body is one node of a second operator, "<name>#own", with kernel and host
/// reference.
void AddOperators(const std::shared_ptr<const ExtendedOp>& op,
                  ir::OpRegistry* registry);

/// An attribute as operators have it.
ir::Attribute InnerAttributeOf(const AttributeValue& value);

/// Name of the second operator.
std::string OwnNameOf(const ExtendedOp& op);

/// The decomposition for the operands of `view`, whose extents are known.
Result<ir::Graph> Decomposed(const ExtendedOp& op, const ir::NodeView& view);

/// The kernel, of operators of the domain and either name.
ir::KernelDef KernelOf(const std::shared_ptr<const ExtendedOp>& op,
                       const std::string& operator_name);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_EXTENDED_OPERATOR_H_
