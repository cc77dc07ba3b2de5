// InstanceNormalization: y = gamma[c] * (x - mean) / sqrt(variance + eps) +
// beta[c] over the image of every channel; ops/normalization/norm_rows.h has
// the order of the steps.  ONNX InstanceNormalization.
#include "ir/op_registry.h"
#include "ops/elements/data_layout.h"
#include "ops/normalization/norm_rows.h"
#include "ops/normalization/normalization_rules.h"
#include "ops/normalization/parameters.h"

namespace tim::ops {
namespace {

// [W, ..., C, N]
Status CheckRank(const ir::Shape& shape) {
  if (!shape.ranked() || shape.rank() >= 3) return OkStatus();
  return InvalidArgument("the input ", shape.ToString(), " has rank ",
                         shape.rank(),
                         ", expected [W, C, N], [W, H, C, N] or "
                         "more");
}

// `channels` elements, whatever axis of the shape they are.
Status CheckParameter(const ir::NodeView& view, int input, const char* name,
                      int64_t channels) {
  const ir::Shape& shape = view.inputs[input]->shape;
  bool fits = shape.NumElements() == channels;
  for (const int64_t extent : shape.dims()) {
    fits &= extent == 1 || extent == channels;
  }
  if (fits) return OkStatus();
  return InvalidArgument(name, " (input ", input, ") is ", shape.ToString(),
                         ", expected [", channels, "], one for each channel");
}

Result<NormRows> Rows(const ir::NodeView& view) {
  const ir::Shape& shape = view.inputs[0]->shape;
  TIM_RETURN_IF_ERROR(CheckRank(shape));
  const int axis = shape.rank() - 2;
  TIM_RETURN_IF_ERROR(CheckParameter(view, 1, "beta", shape[axis]));
  TIM_RETURN_IF_ERROR(CheckParameter(view, 2, "gamma", shape[axis]));
  std::vector<int64_t> strides(shape.rank(), 0);
  strides[axis] = 1;
  return RowsOf(shape.dims(), 0, axis, view.node.attributes.Float("eps"),
                {strides, strides});
}

RowNormOp Op() {
  return {.name = "InstanceNormalization",
          .kind = RowNorm::kMoments,
          .rows = Rows,
          .planes = true};
}

Status Infer(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckRank(context.shape(0)));
  return InferNorm(
      context, [](const ir::NodeView& view) { return Rows(view).status(); });
}

ir::OpSchema Schema() {
  return {.name = "InstanceNormalization",
          .inputs = {3, 3},
          .attributes = {{"eps", ir::AttributeType::kFloat, 1e-5},
                         DataLayoutSpec("input_layout", DataLayout::kWhcn)},
          .infer_shapes = Infer,
          .layout_rule = DataLayoutRule("input_layout"),
          .vjp = InstanceNormalizationVjp};
}

}  // namespace

TIM_OPERATOR(instancenormalization) { AddRowNorm(Op(), Schema(), registry); }

}  // namespace tim::ops
