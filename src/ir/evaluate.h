// Runs nodes and graphs through OpSchema::eval: the truth of all tests.
#ifndef TIM_IR_EVALUATE_H_
#define TIM_IR_EVALUATE_H_

#include <span>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_schema.h"

namespace tim::ir {

/// Whether a node, or all of its body, has a host reference.
bool CanEvaluate(const Node& node);

/// One node; a composite runs its body.  Operands dense, static shapes.
Status Evaluate(const Node& node, std::span<const ConstTensor> inputs,
                std::span<const MutableTensor> outputs);

/// A whole graph whose shapes are inferred.  `inputs` and `outputs` correspond
/// to graph.inputs() and graph.outputs(); states are not supported.
Status Evaluate(const Graph& graph, std::span<const ConstTensor> inputs,
                std::span<const MutableTensor> outputs);

}  // namespace tim::ir

#endif  // TIM_IR_EVALUATE_H_
