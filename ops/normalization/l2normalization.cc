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

Status Infer(ir::InferContext& context) {
  if (context.shape(0).ranked()) {
    const auto axis =
        WrapAxis(context.attributes().Int("axis"), context.shape(0).rank());
    TIM_RETURN_IF_ERROR(axis.status());
  }
  return InferSameAsInput(context);
}

ir::OpSchema Schema() {
  return {.name = "L2Normalization",
          .inputs = {1, 1},
          .attributes = {{"axis", ir::AttributeType::kInt}},
          .check = CheckRowNormTypes,
          .infer_shapes = Infer,
          .eval =
              [](const ir::EvalContext& context) {
                return EvalRowNorm(Op(), context);
              },
          .memory_estimate = NoScratch,
          .compute_estimate =
              [](const ir::NodeView& view) {
                return RowNormEstimate(RowNorm::kL2, view);
              },
          .permute_rule = MoveAxis("axis")};
}

}  // namespace

TIM_OPERATOR(l2normalization) {
  registry.Add(Schema());
  registry.Add(RowNormKernel(Op()));
  registry.Add(RowNormSimtKernel(Op()));
}

}  // namespace tim::ops
