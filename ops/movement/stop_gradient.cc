// StopGradient: the input as it is, beyond which no gradient is asked for.
// Compile removes it.
#include "ir/op_registry.h"
#include "ir/zero_vjp.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

bool IsSame(const ir::NodeView& view) {
  return ir::SameElements(*view.inputs[0], *view.outputs[0]);
}

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
  if (IsSame(view)) return OkStatus();
  return InvalidArgument("output 0 is ", view.outputs[0]->ToString(),
                         ", expected the elements of the input, ",
                         view.inputs[0]->ToString());
}

Status Eval(const ir::EvalContext& context) {
  kernels::ElementConverter converter(context.inputs[0], context.outputs[0]);
  const int64_t count = *context.inputs[0].desc->shape.NumElements();
  for (int64_t i = 0; i < count; ++i) converter.Convert(i, i);
  return OkStatus();
}

}  // namespace

TIM_OPERATOR(stop_gradient) {
  registry.Add(ir::OpSchema{
      .name = "StopGradient",
      .inputs = {1, 1},
      .check = Check,
      .infer_shapes = InferSameAsInput,
      .eval = Eval,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 0); },
      .is_view = IsSame,
      .is_identity = IsSame,
      .sliced_inputs = SliceAlike,
      .permute_rule = KeepAttributes,
      .vjp = ir::ZeroVjp});
  registry.Add(ConvertKernel("tim.StopGradient", "stop_gradient"));
}

}  // namespace tim::ops
