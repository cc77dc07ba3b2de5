// RmsNormalization: y = x / sqrt(mean of x^2 + eps) * gamma along one axis,
// gamma optional; ops/normalization/norm_rows.h has the order of the steps.
// SimplifiedLayerNormalization of ONNX Runtime.
#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/normalization/norm_rows.h"
#include "ops/normalization/normalization_rules.h"
#include "ops/normalization/parameters.h"

namespace tim::ops {
namespace {

bool HasGamma(const ir::NodeView& view) {
  return view.inputs.size() > 1 && view.inputs[1] != nullptr;
}

Result<NormRows> Rows(const ir::NodeView& view) {
  const ir::Shape& shape = view.inputs[0]->shape;
  const ir::AttributeMap& attributes = view.node.attributes;
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(attributes.Int("axis"), shape.rank()));
  std::vector<std::vector<int64_t>> strides;
  if (HasGamma(view)) {
    TIM_ASSIGN_OR_RETURN(strides, StridesOfInputs(view, 1, {"gamma"}, axis));
    strides.push_back(strides[0]);  // in the place of beta
  }
  return RowsOf(shape.dims(), axis, axis + 1, attributes.Float("eps"), strides);
}

RowNormOp Op() {
  return {.name = "RmsNormalization",
          .kind = RowNorm::kRms,
          .rows = Rows,
          .sums = true};
}

Status Infer(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckAxis(context));
  return InferNorm(
      context, [](const ir::NodeView& view) { return Rows(view).status(); });
}

ir::OpSchema Schema() {
  return {.name = "RmsNormalization",
          .inputs = {1, 2},
          .attributes = {{"axis", ir::AttributeType::kInt},
                         {"eps", ir::AttributeType::kFloat, 1e-5}},
          .infer_shapes = Infer,
          .permute_rule = PermuteAlongAxis,
          .vjp = RmsNormalizationVjp};
}

}  // namespace

TIM_OPERATOR(rmsnormalization) { AddRowNorm(Op(), Schema(), registry); }

}  // namespace tim::ops
