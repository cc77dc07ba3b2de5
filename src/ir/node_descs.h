// Descriptions of a node's operands in its graph, and estimates made of them.
#ifndef TIM_IR_NODE_DESCS_H_
#define TIM_IR_NODE_DESCS_H_

#include <vector>

#include "ir/graph.h"
#include "ir/op_schema.h"

namespace tim::ir {

/// Descs of a node's operands for the functions of its schema.  Graph and node
/// outlive it.
class NodeDescs {
 public:
  NodeDescs(const Graph& graph, const Node& node);
  NodeView view() const { return {node_, inputs_, outputs_}; }

 private:
  const Node& node_;
  std::vector<const TensorDesc*> inputs_;
  std::vector<const TensorDesc*> outputs_;
};

void Add(const ComputeEstimate& more, ComputeEstimate* sum);

/// Work of one evaluation of the node as its schema estimates it; of a
/// composite that of its body.
ComputeEstimate EstimateOf(const Graph& graph, const Node& node);
/// Sum over the nodes of the graph.
ComputeEstimate EstimateOf(const Graph& graph);

}  // namespace tim::ir

#endif  // TIM_IR_NODE_DESCS_H_
