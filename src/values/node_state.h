// An operator with its attributes, checked.
#ifndef TIM_VALUES_NODE_STATE_H_
#define TIM_VALUES_NODE_STATE_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_schema.h"
#include "runtime/node_runner.h"
#include "tim/values/node.h"
#include "values/conversion.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// Schemas that no registry of the process has.
using OwnSchemas = std::vector<std::shared_ptr<const ir::OpSchema>>;

/// What functions of values are made of: an operator, or a graph as one.
struct NodeState {
  std::string op;  ///< "tim.Relu"
  Status status;
  const ir::OpSchema* schema = nullptr;
  std::shared_ptr<const ir::Composite> composite = nullptr;
  ir::AttributeMap attributes = {};
  /// One per output, with what attributes "output_type" and the like declare.
  std::vector<ir::TensorDesc> outputs = {};
  /// Its schema, or those in its body, where they are its own.
  OwnSchemas own = {};
  /// All that are known, with its own; null where it has none.
  std::shared_ptr<const ir::OpRegistry> operators = nullptr;

  /// The operator's name without the library's domain: "Relu".
  std::string short_name() const;
};

/// Attributes that every operator has here, beside its own; of one output only
/// where its number stands behind "output":
/// output_type           the name of an element type: "float16"
/// output_shape          extents, for operators whose results may have another
///                       shape of as many elements
/// output_scale, output_zero_point    quantization per tensor
/// output_scales, output_zero_points, output_axis    quantization per channel
/// output_fl             quantization by fixed point
/// and output_count, of operators that can do without their last outputs: how
/// many there are.
std::shared_ptr<const NodeState> MakeNode(const std::string& op,
                                          const Attributes& attributes);
/// One of a graph with as many inputs and outputs.
std::shared_ptr<const NodeState> MakeNode(
    std::shared_ptr<const ir::Composite> composite, OwnSchemas own = {});

/// What is known of the outputs, where operands are described by `inputs`,
/// those with content as constants.  Where an input has no type, nothing is.
Result<std::vector<TensorSpec>> InferOutputs(
    const NodeState& node, std::span<const runtime::NodeOperand> inputs);
/// The same as a graph that has been inferred, with constants as its only
/// inputs that have bytes.
Result<ir::Graph> InferredGraphOf(const NodeState& node,
                                  std::span<const runtime::NodeOperand> inputs);

/// Fails where there are too many or too few operands, or one has failed.
Status CheckOperands(const NodeState& node, const std::vector<Value>& inputs,
                     const std::vector<Token>& after);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_NODE_STATE_H_
