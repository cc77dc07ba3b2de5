// Definitions of operations as clients hand them over.
#ifndef TIM_GRAPH_API_DEFINITION_H_
#define TIM_GRAPH_API_DEFINITION_H_

#include <string_view>

#include "base/status.h"
#include "graph_api/extended_op.h"
#include "tim/graph/c_extension.h"

namespace tim::graph {

/// Copies and checks a definition; its kind is not set.  kInvalidArgument names
/// the rule, what was found, and what is legal.
Result<ExtendedOp> ReadDefinition(const tim_graph_op_definition_t& definition);

// Parts of it, with its failures.

/// Attributes that the definition lists.
Status ReadAttributes(const tim_graph_op_definition_t& definition,
                      ExtendedOp* op);
/// Program, attributes, and the parameters that are not given.
Status ReadExpression(std::string_view text, ExtendedOp* op);

/// The text, empty where it is null.
std::string_view TextOf(const char* text);
/// \param what what it is the name of.
Status CheckIdentifier(std::string_view what, std::string_view text);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_DEFINITION_H_
