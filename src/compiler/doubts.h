// What is said of nodes that are legal and hardly meant, and of those that are
// neither.
#ifndef TIM_COMPILER_DOUBTS_H_
#define TIM_COMPILER_DOUBTS_H_

#include <string>

#include "base/status.h"
#include "compiler/module.h"
#include "ir/op_schema.h"

namespace tim::compiler {

/// Doubts about a node whose operands are inferred: layout arguments, which
/// only layout inference applies, and what its operator says
/// (OpSchema::doubts).  One for each kind.
Status SayDoubts(const Module& module, const ir::Graph& graph,
                 const ir::Node& node);

/// The node's outputs that are declared with as many elements as the operator
/// gives but with other extents, those of 1 left aside; "" where there are
/// none.  `inferred` are the operator's.
std::string ShapeDoubt(const ir::Graph& graph, const ir::Node& node,
                       const ir::InferContext& inferred);

/// What the value is declared to be where the operator gives `inferred`: its
/// declared shape, or the preferred one where that has as many elements, else
/// unknown.
ir::Shape DeclaredShape(const ir::Value& value, const ir::Shape& inferred);

/// What layout arguments say of operands that is not so while nothing applies
/// them; "" where they say nothing.
std::string UnappliedLayouts(const ir::Graph& graph, const ir::Node& node);

/// Behind the text of an error about operands that do not fit each other: what
/// would make them fit, "" where nothing simple does.
std::string LikelyCause(const ir::Graph& graph, const ir::Node& node);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_DOUBTS_H_
