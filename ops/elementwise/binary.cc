#include "ops/elementwise/binary.h"

#include <cmath>

#include "base/checked_math.h"
#include "kernels/elements.h"
#include "ops/elements/axes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/activation.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

Status InferBinary(ir::InferContext& context) {
  InferTypeFromInput(context);
  auto& output = context.outputs[0];
  TIM_ASSIGN_OR_RETURN(output.desc.shape,
                       BroadcastShapes(context.shape(0), context.shape(1)));
  output.is_scalar = context.inputs[0].is_scalar && context.inputs[1].is_scalar;
  return OkStatus();
}

float ScaleOf(const ir::AttributeMap& attributes) {
  const bool scaled = attributes.Find(kBinaryScale) != nullptr;
  return scaled ? attributes.Float(kBinaryScale) : 1.0f;
}

Status CheckBinary(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 1));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, 0));
  const float scale = ScaleOf(view.node.attributes);
  if (std::isfinite(scale)) return OkStatus();
  return InvalidArgument("scale is ", scale, ", expected a finite number");
}

bool IsExact(const ir::TensorDesc& a, const ir::TensorDesc& b,
             const ir::TensorDesc& y, float scale) {
  return kernels::IsPlainInteger(a) && kernels::IsPlainInteger(b) &&
         kernels::IsPlainInteger(y) && scale == 1.0f;
}

Status EvalBinary(const ir::EvalContext& context) {
  const ir::Pointwise& f = *context.node.schema->pointwise;
  const ir::TensorDesc& a_desc = *context.inputs[0].desc;
  const ir::TensorDesc& b_desc = *context.inputs[1].desc;
  const ir::TensorDesc& y_desc = *context.outputs[0].desc;
  TIM_ASSIGN_OR_RETURN(const ir::Shape shape,
                       BroadcastShapes(a_desc.shape, b_desc.shape));
  const auto a_strides = BroadcastStrides(a_desc.shape.dims(), shape.dims());
  const auto b_strides = BroadcastStrides(b_desc.shape.dims(), shape.dims());
  const kernels::RequantizePolicy policy =
      kernels::PolicyOf(context.attributes());
  const kernels::ElementReader a(context.inputs[0]);
  const kernels::ElementReader b(context.inputs[1]);
  kernels::ElementWriter y(context.outputs[0], policy);
  const float scale = ScaleOf(context.attributes());
  const bool exact = IsExact(a_desc, b_desc, y_desc, scale);
  const int64_t count = *shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at_a = IndexOf(i, shape.dims(), a_strides);
    const int64_t at_b = IndexOf(i, shape.dims(), b_strides);
    if (exact) {
      y.StoreCode(i, f.binary_integer(a.Code(at_a), b.Code(at_b), policy.wrap));
    } else {
      y.StoreReal(i, f.binary(a.Real(at_a), b.Real(at_b)) * scale);
    }
  }
  return OkStatus();
}

// The operator that follows, where it may be applied before the store: limits
// also to what is not rounded yet (NaN as the code 0 that it would become), as
// rounding keeps the order, unless codes wrap or a limit would be rounded
// otherwise than the operator does.
Result<Activation> FusedOf(const ir::KernelNode& node) {
  if (node.epilogue.empty()) return Activation();
  const std::string& name = node.epilogue[0].node->schema->name;
  if (node.epilogue.size() > 1) {
    return Unimplemented("only one operator is fused, not also ",
                         node.epilogue[1].node->schema->name);
  }
  TIM_ASSIGN_OR_RETURN(const Activation activation,
                       ActivationOf(node.epilogue[0], node.anchor_output));
  const kernels::RequantizePolicy policy = kernels::PolicyOf(node.attributes());
  if (policy.wrap || policy.to_zero) {
    return Unimplemented("a fused ", name,
                         " needs the policies saturate and to nearest even");
  }
  return activation;
}

Status SupportsBinary(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(FusedOf(node).status());
  return CheckKernelOperands(node);
}

// Blocks need operands with the output's channels: one channel that is
// broadcast would also reach the tail lanes.
std::vector<ir::LayoutTuple> BinaryLayouts(const ir::KernelNode& node,
                                           const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  const ir::TensorDesc& y = node.outputs[0];
  if (!FitsChannelBlocks(y)) return out;
  for (int i = 0; i < 2; ++i) {
    const ir::TensorDesc& input = node.inputs[i];
    if (!FitsChannelBlocks(input) || input.shape[2] != y.shape[2]) return out;
  }
  if (KeepsTail(node)) out.push_back(SameLayouts(node, ChannelBlocks()));
  return out;
}

Result<ir::Lowering> LowerBinary(const ir::KernelNode& node,
                                 const ir::DeviceInfo&) {
  const ir::TensorDesc& a = node.inputs[0];
  const ir::TensorDesc& b = node.inputs[1];
  const ir::TensorDesc& y = node.outputs[0];
  const std::vector<int64_t> extents = ir::PhysicalDims(y);
  const std::vector<Axis> axes =
      JoinAxes(extents, {BroadcastStrides(ir::PhysicalDims(a), extents),
                         BroadcastStrides(ir::PhysicalDims(b), extents)});
  const auto outer = std::span(axes).subspan(1);
  TIM_ASSIGN_OR_RETURN(const Activation activation, FusedOf(node));
  Launch launch("ops/elementwise/elementwise.cl", "elementwise");
  launch.Type("IN0", a).Type("IN1", b).Type("OUT", y);
  launch.Formula("FUNCTION", *node.anchor->schema->pointwise);
  if (activation.pointwise != nullptr) {
    launch.Formula("ACTIVATION", *activation.pointwise);
  }
  const float scale = ScaleOf(node.attributes());
  if (IsExact(a, b, y, scale)) launch.Option("-DPLAIN");
  launch.Policy(node.attributes());
  launch.Input("a", node, 0).Input("b", node, 1).Output("y", node, 0);
  launch.InPlace(node, 0).InPlace(node, 1);
  launch.Packed("outer", PackAxes(outer, 2), 4)
      .Int("outer_rank", static_cast<int64_t>(outer.size()));
  launch.Int("rows", CountElements(outer));
  launch.Int("row_length", axes[0].extent)
      .Int("a_step", axes[0].strides[0])
      .Int("b_step", axes[0].strides[1]);
  launch.Float("scale", scale)
      .Float("activation_a", activation.parameters.a)
      .Float("activation_b", activation.parameters.b);
  launch.InputQuantization("a", a).InputQuantization("b", b).OutputQuantization(
      "y", y);
  return launch.Items(CeilDiv(axes[0].extent, 16) * CountElements(outer))
      .Build();
}

}  // namespace

ir::OpSchema BinarySchema(const BinaryOp& op) {
  ir::OpSchema schema = {.name = op.name,
                         .inputs = {2, 2},
                         .attributes = op.attributes,
                         .check = CheckBinary,
                         .infer_shapes = InferBinary,
                         .eval = EvalBinary,
                         .pointwise = op.pointwise,
                         .memory_estimate = NoScratch,
                         .compute_estimate =
                             [flops = op.flops](const ir::NodeView& view) {
                               return ElementwiseEstimate(view, flops);
                             },
                         .permute_rule = KeepAttributes};
  if (op.affine_of == nullptr) return schema;
  schema.channel_affine = [affine_of = op.affine_of](
                              const ir::NodeView& view,
                              std::span<const ir::ConstTensor> constants) {
    return BinaryChannelAffine(view, constants, affine_of);
  };
  return schema;
}

ir::KernelDef BinaryKernel(const std::string& op) {
  return {.op = StrCat("tim.", op),
          .name = LowerCase(op),
          .supports = SupportsBinary,
          .layouts = BinaryLayouts,
          .cost =
              [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
                return ElementwiseCost(node, device, 0.1);
              },
          .lower = LowerBinary};
}

void AddBinary(const BinaryOp& op, ir::OpRegistry& registry) {
  registry.Add(BinarySchema(op));
  registry.Add(BinaryKernel(op.name));
}

}  // namespace tim::ops
