// Nodes on which kernels of plug-ins are tried.
#ifndef TIM_TOOLS_TIMCL_PLUGIN_NODES_H_
#define TIM_TOOLS_TIMCL_PLUGIN_NODES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "tools/timcl/plugin_checks.h"

namespace tim::tool {

/// A graph of one node, with types and shapes.
struct NodeCase {
  std::string name;  ///< "tim.Conv2d float32 [33, 31, 5, 2]"
  ir::Graph graph;
  ir::NodeId node = ir::kNone;
};

/// Nodes of the operator in many shapes and types that it takes; perhaps none.
std::vector<NodeCase> NodeCases(CheckedPlugin& plugin,
                                const ir::OpRegistry& operators,
                                const std::string& op);

using Bytes = std::vector<std::byte>;

/// Content for the graph's inputs.
std::vector<Bytes> RandomInputs(CheckedPlugin& plugin, const ir::Graph& graph);
/// Results of the library's references.
Result<std::vector<Bytes>> Evaluated(const ir::Graph& graph,
                                     const std::vector<Bytes>& inputs);
/// Integers bit for bit, floats within a tolerance: kInvalidArgument says which
/// element differs.
Status Compare(const ir::TensorDesc& desc, const Bytes& actual,
               const Bytes& expected);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_PLUGIN_NODES_H_
