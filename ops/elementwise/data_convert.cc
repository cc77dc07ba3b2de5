// DataConvert: elements in another type or quantization.
#include "ir/op_registry.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/gradients/pointwise_rules.h"
#include "ops/launch/blocked.h"

namespace tim::ops {
namespace {

Status CheckDataConvert(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
  return CheckKnownType(view, Operand::kOutput, 0);
}

Status EvalDataConvert(const ir::EvalContext& context) {
  kernels::ElementConverter converter(context.inputs[0], context.outputs[0]);
  const int64_t count = *context.inputs[0].desc->shape.NumElements();
  for (int64_t i = 0; i < count; ++i) converter.Convert(i, i);
  return OkStatus();
}

ir::OpSchema DataConvertSchema() {
  return {
      .name = "DataConvert",
      .inputs = {1, 1},
      .attributes = {{.name = "foldable",
                      .type = ir::AttributeType::kBool,
                      .default_value = false}},
      .check = CheckDataConvert,
      .infer_shapes = InferSameAsInput,
      .eval = EvalDataConvert,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .is_identity =
          [](const ir::NodeView& view) {
            return ir::SameElements(*view.inputs[0], *view.outputs[0]) &&
                   view.inputs[0]->shape == view.outputs[0]->shape;
          },
      .sliced_inputs = SliceAlike,
      .permute_rule = KeepAttributes,
      .vjp = ConvertVjp};
}

ir::KernelDef DataConvertKernel() {
  ir::PlainKernel kernel = ConvertKernel("tim.DataConvert", "data_convert");
  kernel.layouts = UnaryLayouts;
  return kernel;
}

}  // namespace

TIM_OPERATOR(data_convert) {
  registry.Add(DataConvertSchema());
  registry.Add(DataConvertKernel());
}

}  // namespace tim::ops
