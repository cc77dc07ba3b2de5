// LayerNormalization: y = gamma * (x - mean) / sqrt(variance + eps) + beta
// along one axis; ops/normalization/norm_rows.h has the order of the steps.
// ONNX LayerNormalization with axis -1.
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
  TIM_ASSIGN_OR_RETURN(const auto strides,
                       StridesOfInputs(view, 1, {"beta", "gamma"}, axis));
  return RowsOf(shape.dims(), axis, axis + 1, attributes.Float("eps"), strides);
}

RowNormOp Op() {
  return {.name = "LayerNormalization",
          .kind = RowNorm::kMoments,
          .rows = Rows,
          .sums = true};
}

Status Infer(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckAxis(context));
  return InferNorm(
      context, [](const ir::NodeView& view) { return Rows(view).status(); });
}

ir::OpSchema Schema() {
  return {.name = "LayerNormalization",
          .inputs = {3, 3},
          .attributes = {{"axis", ir::AttributeType::kInt},
                         {"eps", ir::AttributeType::kFloat, 1e-5}},
          .infer_shapes = Infer,
          .permute_rule = PermuteAlongAxis,
          .vjp = LayerNormalizationVjp};
}

}  // namespace

TIM_OPERATOR(layernormalization) { AddRowNorm(Op(), Schema(), registry); }

}  // namespace tim::ops
