// A graph as JSON, for programs that look at it.
#ifndef TIM_IR_DUMP_GRAPH_JSON_H_
#define TIM_IR_DUMP_GRAPH_JSON_H_

#include <string>

#include "ir/graph.h"

namespace tim::ir {

/// {"graph", "inputs", "outputs", "states": [{"state", "next"}],
///  "values": [{"name", "role", "type", "shape", "layout", "bytes", …}],
///  "nodes": [{"name", "operator", "attributes", "inputs", "outputs",
///             "body": a graph}]}: values by their names, absent operands null,
/// extents fastest-varying first and null where they are unknown.
std::string JsonOf(const Graph& graph);

}  // namespace tim::ir

#endif  // TIM_IR_DUMP_GRAPH_JSON_H_
