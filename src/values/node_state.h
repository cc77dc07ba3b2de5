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

/// An operator, or a graph that is used as one, with its attributes.
struct NodeState {
  std::string op;  ///< "tim.Relu"
  Status status;
  const ir::OpSchema* schema = nullptr;
  std::shared_ptr<const ir::Composite> composite = nullptr;
  ir::AttributeMap attributes = {};
  /// Declared facts per output, from attributes as "output_type".
  std::vector<ir::TensorDesc> outputs = {};
  /// The node's schema, or those of its body, that are in no registry.
  OwnSchemas own = {};
  /// Known operators together with `own`; null where `own` is empty.
  std::shared_ptr<const ir::OpRegistry> operators = nullptr;
  /// Its effects, or those of nodes in its graphs, are ordered: its last input
  /// is the order before it, its last output that behind it, both a bool8 [1].
  /// Who calls it gives and gets neither.
  bool ordered = false;

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
/// A node that is the graph `composite`, with as many inputs and outputs.
std::shared_ptr<const NodeState> MakeNode(
    std::shared_ptr<const ir::Composite> composite, OwnSchemas own = {});
/// The node with schemas that its graphs need, and whether it is ordered.
std::shared_ptr<const NodeState> WithOwn(
    const std::shared_ptr<const NodeState>& node, OwnSchemas own, bool ordered);

/// Known facts of the outputs for operands as in `inputs`, where operands with
/// content count as constants.  Nothing is known where an input has no type.
Result<std::vector<TensorSpec>> InferOutputs(
    const NodeState& node, std::span<const runtime::NodeOperand> inputs);
/// The same as a graph that has been inferred, with constants as its only
/// inputs that have bytes.
Result<ir::Graph> InferredGraphOf(const NodeState& node,
                                  std::span<const runtime::NodeOperand> inputs);

/// Whether evaluations of the node, or of one in its graphs, are seen from
/// outside in their order.
bool HasOrderedEffects(const NodeState& node);

/// Fails where there are too many or too few operands, or one has failed.
Status CheckOperands(const NodeState& node, const std::vector<Value>& inputs,
                     const std::vector<Token>& after);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_NODE_STATE_H_
