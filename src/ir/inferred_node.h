// Nodes that are added to a graph whose values have types and shapes.
#ifndef TIM_IR_INFERRED_NODE_H_
#define TIM_IR_INFERRED_NODE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/graph.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

class OpRegistry;

struct NewNode {
  std::string op = {};    ///< "tim.Relu"
  std::string name = {};  ///< Of the instance; empty: "Relu#<id>".
  std::vector<ValueId> inputs = {};
  AttributeMap attributes = {};
  /// One for each output: its type, unknown where the operator or else input 0
  /// decides, and its shape, of unknown rank where the operator decides, else
  /// declared.
  std::vector<TensorDesc> outputs = {TensorDesc()};
};

/// Adds the node and a new value for each output, with types and shapes as the
/// schema infers and checks them.
/// kUnimplemented: there is no such operator.  kInvalidArgument that names
/// operator and rule: attributes or operands break it; the graph is then as it
/// was.
Result<NodeId> AddInferredNode(NewNode added, const OpRegistry& registry,
                               Graph* graph);

}  // namespace tim::ir

#endif  // TIM_IR_INFERRED_NODE_H_
