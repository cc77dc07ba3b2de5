#include "ops/elements/unary.h"

#include <cmath>

#include "base/checked_math.h"
#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/gradients/pointwise_rules.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

bool IsExact(const ir::Pointwise& f, const ir::TensorDesc& input,
             const ir::TensorDesc& output) {
  return f.unary_integer != nullptr && kernels::IsPlainInteger(input) &&
         kernels::IsPlainInteger(output);
}

Status CheckNumbers(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  return CheckNumber(view, Operand::kOutput, 0);
}

Status CheckUnary(const UnaryOp& op, const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(op.check ? op.check(view) : CheckNumbers(view));
  for (const ir::AttributeSpec& spec : op.attributes) {
    if (spec.type == ir::AttributeType::kFloat &&
        std::isnan(view.node.attributes.Float(spec.name))) {
      return InvalidArgument(spec.name, " is NaN, expected a number");
    }
  }
  return OkStatus();
}

Status EvalUnary(const ir::EvalContext& context) {
  const ir::Pointwise& f = *context.node.schema->pointwise;
  const ir::ConstTensor& input = context.inputs[0];
  const ir::MutableTensor& output = context.outputs[0];
  const kernels::ElementReader x(input);
  kernels::ElementWriter y(output);
  const ir::PointwiseParameters parameters =
      f.ParametersOf(context.attributes());
  const bool exact = IsExact(f, *input.desc, *output.desc);
  const int64_t count = *input.desc->shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    if (exact) {
      y.StoreCode(i, f.unary_integer(x.Code(i), parameters));
    } else {
      y.StoreReal(i, f.unary(x.Real(i), parameters));
    }
  }
  return OkStatus();
}

bool IsByte(const ir::TensorDesc& desc) {
  return ir::Info(desc.type).bits == 8;
}

Result<ir::Lowering> LowerUnary(const ir::KernelNode& node,
                                const ir::DeviceInfo&) {
  const ir::Pointwise& f = *node.anchor->schema->pointwise;
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  TIM_ASSIGN_OR_RETURN(const int64_t count, ir::PhysicalElements(output));
  const ir::PointwiseParameters parameters = f.ParametersOf(node.attributes());
  Launch launch("ops/elements/unary.cl", "unary");
  launch.Type("IN0", input).Type("OUT", output).Formula("FUNCTION", f);
  if (IsExact(f, input, output)) launch.Option("-DPLAIN");
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .InPlace(node, 0)
      .Int("n", count);
  launch.InputQuantization("x", input).OutputQuantization("y", output);
  launch.Float("a", parameters.a).Float("b", parameters.b);
  return launch.Items(CeilDiv(count, 16)).Build();
}

}  // namespace

ir::AttributeSpec FloatAttribute(const char* name,
                                 std::optional<double> value) {
  ir::AttributeSpec spec{.name = name, .type = ir::AttributeType::kFloat};
  if (value) spec.default_value = *value;
  return spec;
}

ir::OpSchema UnarySchema(const UnaryOp& op) {
  return {
      .name = op.name,
      .inputs = {1, 1},
      .surplus_inputs = op.surplus_inputs,
      .attributes = op.attributes,
      .check = [op](const ir::NodeView& view) { return CheckUnary(op, view); },
      // Operators with rules of their own take truth values.
      .doubts = op.check ? nullptr : FirstCodes,
      .infer_shapes = InferSameAsInput,
      .eval = EvalUnary,
      .pointwise = op.pointwise,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [flops = op.flops](const ir::NodeView& view) {
            return ElementwiseEstimate(view, flops);
          },
      .sliced_inputs = SliceAlike,
      .permute_rule = KeepAttributes,
      .vjp = UnaryVjp(op.name)};
}

ir::KernelDef UnaryKernel(const std::string& op) {
  return ir::PlainKernel{
      .op = StrCat("tim.", op),
      .name = LowerCase(op),
      .analyze =
          [](const ir::KernelNode& node, const ir::DeviceInfo&) {
            if (IsByte(node.inputs[0])) {
              return Unimplemented("8-bit inputs are left to the table");
            }
            return CheckKernelOperands(node);
          },
      .layouts = UnaryLayouts,
      .cost = CostAt(prices::kUnary),
      .lower = LowerUnary};
}

void AddUnary(const UnaryOp& op, ir::OpRegistry& registry) {
  registry.Add(UnarySchema(op));
  registry.Add(UnaryTableKernel(op.name));
  registry.Add(UnaryKernel(op.name));
}

}  // namespace tim::ops
