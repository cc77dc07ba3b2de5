// A graph as a picture for Graphviz.
#ifndef TIM_IR_DUMP_GRAPH_DOT_H_
#define TIM_IR_DUMP_GRAPH_DOT_H_

#include <string>

#include "ir/graph.h"

namespace tim::ir {

/// The graph in the DOT language: a box per node, of composites with the
/// operators of their bodies; an ellipse per input, output, constant and state;
/// an edge per operand with the value's name and what it is.
std::string DotOf(const Graph& graph);

}  // namespace tim::ir

#endif  // TIM_IR_DUMP_GRAPH_DOT_H_
