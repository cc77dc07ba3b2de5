#include "ops/elementwise/binary.h"

#include <cmath>

#include "kernels/elements.h"
#include "ops/elements/axes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/gradients/pointwise_rules.h"

namespace tim::ops {
namespace {

ir::Shape SecondShape(const BinaryOp& op, const ir::AttributeMap& attributes,
                      const ir::Shape& a, const ir::Shape& b) {
  return op.second_shape ? op.second_shape(attributes, a, b) : b;
}

Status InferBinary(const BinaryOp& op, ir::InferContext& context) {
  auto& output = context.outputs[0];
  if (output.desc.type == ir::DataType::kUnknown &&
      op.result_type != ir::DataType::kUnknown) {
    output.desc.type = op.result_type;
  }
  InferTypeFromInput(context);
  const ir::Shape& a = context.shape(0);
  TIM_ASSIGN_OR_RETURN(output.desc.shape,
                       BroadcastShapes(a, SecondShape(op, context.attributes(),
                                                      a, context.shape(1))));
  output.is_scalar = context.inputs[0].is_scalar && context.inputs[1].is_scalar;
  return OkStatus();
}

float ScaleOf(const ir::AttributeMap& attributes) {
  const bool scaled = attributes.Find(kBinaryScale) != nullptr;
  return scaled ? attributes.Float(kBinaryScale) : 1.0f;
}

Status CheckBinary(const BinaryOp& op, const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(op.check ? op.check(view) : CheckNumbers(view));
  const float scale = ScaleOf(view.node.attributes);
  if (std::isfinite(scale)) return OkStatus();
  return InvalidArgument("scale is ", scale, ", expected a finite number");
}

bool IsScaled(const ir::TensorDesc& desc) {
  return desc.quantized() && !desc.quantization.per_channel();
}

Status EvalBinary(const BinaryOp& op, const ir::EvalContext& context) {
  const ir::TensorDesc& y_desc = *context.outputs[0].desc;
  const BinaryProblem problem = ProblemOf(
      op,
      {context.attributes(), *context.inputs[0].desc, *context.inputs[1].desc},
      y_desc);
  TIM_ASSIGN_OR_RETURN(const ir::Shape shape,
                       BroadcastShapes(problem.a.shape, problem.b_shape));
  const auto a_strides = BroadcastStrides(problem.a.shape.dims(), shape.dims());
  const auto b_strides = BroadcastStrides(problem.b_shape.dims(), shape.dims());
  const kernels::RequantizePolicy policy =
      kernels::PolicyOf(context.attributes());
  const kernels::ElementReader a({&problem.a, context.inputs[0].data});
  const kernels::ElementReader b({&problem.b, context.inputs[1].data});
  kernels::ElementWriter y(context.outputs[0], policy);
  const ir::Pointwise& f = problem.formula;
  const int64_t count = *shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at_a = IndexOf(i, shape.dims(), a_strides);
    const int64_t at_b = IndexOf(i, shape.dims(), b_strides);
    if (problem.exact) {
      y.StoreCode(i, f.binary_integer(a.Code(at_a), b.Code(at_b), policy.wrap));
    } else {
      y.StoreReal(i, f.binary(a.Real(at_a), b.Real(at_b)) * problem.scale);
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckNumbers(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 1));
  return CheckNumber(view, Operand::kOutput, 0);
}

BinaryProblem ProblemOf(const BinaryOp& op, const BinaryOperands& operands,
                        const ir::TensorDesc& y) {
  BinaryProblem out;
  out.formula = op.formula ? op.formula(operands) : op.pointwise;
  out.a = operands.a;
  out.b = operands.b;
  out.b_shape =
      SecondShape(op, operands.attributes, operands.a.shape, operands.b.shape);
  out.scale = ScaleOf(operands.attributes);
  out.exact = kernels::IsPlainInteger(out.a) &&
              kernels::IsPlainInteger(out.b) && kernels::IsPlainInteger(y) &&
              out.scale == 1.0f && out.formula.binary_integer != nullptr;
  if (op.degree < 0 || !IsScaled(out.a) || !IsScaled(out.b)) return out;
  const float common = out.a.quantization.Scale();
  if (out.b.quantization.Scale() != common) return out;
  for (int i = 0; i < op.degree; ++i) out.scale *= common;
  for (ir::TensorDesc* desc : {&out.a, &out.b}) {
    desc->quantization =
        ir::Quantization::PerTensor(1.0f, desc->quantization.ZeroPoint());
  }
  return out;
}

ir::OpSchema BinarySchema(const BinaryOp& op) {
  ir::OpSchema schema;
  schema.name = op.name;
  schema.inputs = {2, 2};
  schema.attributes = op.attributes;
  schema.check = [op](const ir::NodeView& view) {
    return CheckBinary(op, view);
  };
  schema.doubts = op.doubts;
  schema.infer_shapes = [op](ir::InferContext& context) {
    return InferBinary(op, context);
  };
  schema.eval = [op](const ir::EvalContext& context) {
    return EvalBinary(op, context);
  };
  if (op.formula == nullptr) schema.pointwise = op.pointwise;
  schema.memory_estimate = NoScratch;
  schema.compute_estimate = [flops = op.flops](const ir::NodeView& view) {
    return ElementwiseEstimate(view, flops);
  };
  if (!op.permute_rule) schema.sliced_inputs = SliceAlike;
  schema.permute_rule = op.permute_rule ? op.permute_rule : KeepAttributes;
  schema.vjp = BinaryVjp(op.name);
  if (op.affine_of == nullptr) return schema;
  schema.channel_affine = [affine_of = op.affine_of](
                              const ir::NodeView& view,
                              std::span<const ir::ConstTensor> constants) {
    return BinaryChannelAffine(view, constants, affine_of);
  };
  return schema;
}

void AddBinary(const BinaryOp& op, ir::OpRegistry& registry) {
  registry.Add(BinarySchema(op));
  registry.Add(BinaryKernel(op));
}

}  // namespace tim::ops
