// L2Normalization: y = x / sqrt(sum of x^2) along one axis, where a sum below
// 1e-12 counts as that; ops/normalization/norm_rows.h has the order of the
// steps.  ONNX LpNormalization with p = 2, TFLite L2_NORMALIZATION.
#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/normalization/norm_rows.h"
#include "ops/normalization/parameters.h"

namespace tim::ops {
namespace {

// Rows of zeros stay so.
constexpr float kLeastSum = 1e-12f;

Result<NormRows> Rows(const ir::NodeView& view) {
  const ir::Shape& shape = view.inputs[0]->shape;
  TIM_ASSIGN_OR_RETURN(
      const int axis, WrapAxis(view.node.attributes.Int("axis"), shape.rank()));
  return RowsOf(shape.dims(), axis, axis + 1, kLeastSum);
}

RowNormOp Op() {
  return {.name = "L2Normalization", .kind = RowNorm::kL2, .rows = Rows};
}

ir::OpSchema Schema() {
  return {.name = "L2Normalization",
          .inputs = {1, 1},
          .attributes = {{"axis", ir::AttributeType::kInt}},
          .infer_shapes = InferAlongAxis,
          .sliced_inputs = SliceBesideAxis("axis"),
          .permute_rule = MoveAxis("axis")};
}

}  // namespace

TIM_OPERATOR(l2normalization) { AddRowNorm(Op(), Schema(), registry); }

}  // namespace tim::ops
