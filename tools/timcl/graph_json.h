// Graphs of tim::graph in files, in the form in which oneDNN and this library
// dump them.
#ifndef TIM_TOOLS_TIMCL_GRAPH_JSON_H_
#define TIM_TOOLS_TIMCL_GRAPH_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph_api/op.h"
#include "graph_api/partition.h"

namespace tim::tool {

struct GraphJson {
  std::string version;  ///< Of the library that wrote it; empty: not said.
  graph::GraphTraits traits = {};
  /// Kinds, attributes and tensors as the file has them: neither CheckOp() nor
  /// a graph has seen them.
  std::vector<graph::Op> ops = {};
  /// Ids; empty where the file does not list them.
  std::vector<size_t> input_ports = {};
  std::vector<size_t> output_ports = {};
  /// Members that mean nothing here and are left out, each once.
  std::vector<std::string> ignored = {};
};

/// Reads a graph, as older versions wrote it, too: names of kinds and
/// attributes that are others now, ids and numbers as texts, ports, modes and
/// strides that are not there.  What one op says of a tensor and another leaves
/// open (dims, layout, property) holds for both.
///
/// kInvalidArgument names the op and the place in the file, as
/// "graph[2].attrs.strides.value[1]", what is expected and what is found.
Result<GraphJson> ReadGraphJson(std::string_view text);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_JSON_H_
