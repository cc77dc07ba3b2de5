// Cast: stored numbers in another type, whatever their quantization.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/gradients/pointwise_rules.h"
#include "ops/launch/blocked.h"

namespace tim::ops {
namespace {

constexpr kernels::RequantizePolicy kTruncate = {.to_zero = true};

Status CheckCast(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumberOrBool(view, Operand::kInput, 0));
  return CheckNumberOrBool(view, Operand::kOutput, 0);
}

ir::TensorDesc PlainNumbers(ir::TensorDesc desc) {
  desc.quantization = {};
  return desc;
}

ir::KernelNode PlainNumbers(ir::KernelNode node) {
  node.inputs[0] = PlainNumbers(node.inputs[0]);
  node.outputs[0] = PlainNumbers(node.outputs[0]);
  return node;
}

Status EvalCast(const ir::EvalContext& context) {
  const ir::TensorDesc from = PlainNumbers(*context.inputs[0].desc);
  const ir::TensorDesc to = PlainNumbers(*context.outputs[0].desc);
  kernels::ElementConverter converter(
      {&from, context.inputs[0].data}, {&to, context.outputs[0].data},
      kernels::ConvertRuleOf(from, to), kTruncate);
  const int64_t count = *from.shape.NumElements();
  for (int64_t i = 0; i < count; ++i) converter.Convert(i, i);
  return OkStatus();
}

bool IsSameType(const ir::NodeView& view) {
  return view.inputs[0]->type == view.outputs[0]->type;
}

ir::OpSchema CastSchema() {
  return {
      .name = "Cast",
      .inputs = {1, 1},
      .check = CheckCast,
      .infer_shapes = InferSameAsInput,
      .eval = EvalCast,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .is_view = IsSameType,
      .is_identity =
          [](const ir::NodeView& view) {
            return ir::SameElements(*view.inputs[0], *view.outputs[0]) &&
                   view.inputs[0]->shape == view.outputs[0]->shape;
          },
      .sliced_inputs = SliceAlike,
      .permute_rule = KeepAttributes,
      .vjp = ConvertVjp};
}

ir::KernelDef CastKernel() {
  ir::PlainKernel kernel = ConvertKernel("tim.Cast", "cast", Rounding::kToZero);
  kernel.layouts = UnaryLayouts;
  kernel.analyze = [analyze = kernel.analyze](const ir::KernelNode& node,
                                              const ir::DeviceInfo& device) {
    return analyze(PlainNumbers(node), device);
  };
  kernel.lower = [lower = kernel.lower](const ir::KernelNode& node,
                                        const ir::DeviceInfo& device) {
    return lower(PlainNumbers(node), device);
  };
  return kernel;
}

}  // namespace

TIM_OPERATOR(cast) {
  registry.Add(CastSchema());
  registry.Add(CastKernel());
}

}  // namespace tim::ops
