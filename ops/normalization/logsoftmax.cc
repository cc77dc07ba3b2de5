// LogSoftmax: y = beta * (x - max) - ln(sum of e^(beta * (x - max))) along one
// axis; ops/normalization/norm_rows.h has the order of the steps.  ONNX
// LogSoftmax, TFLite LOG_SOFTMAX.
#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/normalization/norm_rows.h"
#include "ops/normalization/normalization_rules.h"
#include "ops/normalization/parameters.h"

namespace tim::ops {
namespace {

Result<NormRows> Rows(const ir::NodeView& view) {
  const ir::Shape& shape = view.inputs[0]->shape;
  const ir::AttributeMap& attributes = view.node.attributes;
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(attributes.Int("axis"), shape.rank()));
  return RowsOf(shape.dims(), axis, axis + 1, attributes.Float("beta"));
}

RowNormOp Op() {
  return {.name = "LogSoftmax", .kind = RowNorm::kLogSoftmax, .rows = Rows};
}

ir::OpSchema Schema() {
  return {.name = "LogSoftmax",
          .inputs = {1, 1},
          .attributes = {{"axis", ir::AttributeType::kInt},
                         {"beta", ir::AttributeType::kFloat, 1.0}},
          .infer_shapes = InferAlongAxis,
          .sliced_inputs = SliceBesideAxis("axis"),
          .permute_rule = MoveAxis("axis"),
          .vjp = LogSoftmaxVjp};
}

}  // namespace

TIM_OPERATOR(logsoftmax) { AddRowNorm(Op(), Schema(), registry); }

}  // namespace tim::ops
