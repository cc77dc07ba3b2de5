// Select: elements of input 1 or of input 2, as a condition says.
#include <array>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/axes.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/gradients/pointwise_rules.h"
#include "ops/launch/blocked.h"

namespace tim::ops {
namespace {

enum Input { kCondition, kThen, kElse };

Status InferSelect(ir::InferContext& context) {
  auto& output = context.outputs[0];
  if (output.desc.type == ir::DataType::kUnknown) {
    output.desc.type = context.inputs[kThen].desc->type;
    output.desc.quantization = context.inputs[kThen].desc->quantization;
  }
  TIM_ASSIGN_OR_RETURN(
      const ir::Shape values,
      BroadcastShapes(context.shape(kThen), context.shape(kElse)));
  TIM_ASSIGN_OR_RETURN(output.desc.shape,
                       BroadcastShapes(context.shape(kCondition), values));
  output.is_scalar = true;
  for (const auto& input : context.inputs) output.is_scalar &= input.is_scalar;
  return OkStatus();
}

Status CheckSelect(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckTruth(view, Operand::kInput, kCondition));
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, kThen));
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, kElse));
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kOutput, 0));
  return CheckChannels(*view.outputs[0]);
}

std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  Doubts doubts;
  AddCodesDoubt(view, {kThen, kElse}, {0}, &doubts);
  return doubts;
}

Status EvalSelect(const ir::EvalContext& context) {
  std::array<const ir::Shape*, 3> shapes;
  for (const int i : {kCondition, kThen, kElse}) {
    shapes[i] = &context.inputs[i].desc->shape;
  }
  TIM_ASSIGN_OR_RETURN(const ir::Shape values,
                       BroadcastShapes(*shapes[kThen], *shapes[kElse]));
  TIM_ASSIGN_OR_RETURN(const ir::Shape shape,
                       BroadcastShapes(*shapes[kCondition], values));
  std::array<std::vector<int64_t>, 3> strides;
  for (const int i : {kCondition, kThen, kElse}) {
    strides[i] = BroadcastStrides(shapes[i]->dims(), shape.dims());
  }
  const kernels::ElementReader condition(context.inputs[kCondition]);
  kernels::ElementConverter of_then(context.inputs[kThen], context.outputs[0]);
  kernels::ElementConverter of_else(context.inputs[kElse], context.outputs[0]);
  const int64_t count = *shape.NumElements();
  const auto at = [&](int64_t i, int input) {
    return IndexOf(i, shape.dims(), strides[input]);
  };
  for (int64_t i = 0; i < count; ++i) {
    if (condition.Code(at(i, kCondition)) != 0) {
      of_then.Convert(at(i, kThen), i);
    } else {
      of_else.Convert(at(i, kElse), i);
    }
  }
  return OkStatus();
}

// Rules by which elements become those of the output.
struct SelectRules {
  kernels::ConvertRule of_then = kernels::ConvertRule::kBits;
  kernels::ConvertRule of_else = kernels::ConvertRule::kBits;
};

Result<SelectRules> AnalyzeSelect(const ir::KernelNode& node,
                                  const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckElementCount(node.inputs[kCondition]));
  const ir::TensorDesc& x = node.inputs[kThen];
  const ir::TensorDesc& z = node.inputs[kElse];
  const ir::TensorDesc& y = node.outputs[0];
  const SelectRules rules = {.of_then = kernels::ConvertRuleOf(x, y),
                             .of_else = kernels::ConvertRuleOf(z, y)};
  TIM_RETURN_IF_ERROR(CheckConvert(x, y, rules.of_then));
  TIM_RETURN_IF_ERROR(CheckConvert(z, y, rules.of_else));
  return rules;
}

// Blocks need operands with the output's channels: one channel that is
// broadcast would also reach the tail lanes.
std::vector<ir::LayoutTuple> SelectLayouts(const SelectRules&,
                                           const ir::KernelNode& node,
                                           const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  const ir::TensorDesc& y = node.outputs[0];
  if (!FitsChannelBlocks(y)) return out;
  for (const ir::TensorDesc& input : node.inputs) {
    if (!FitsChannelBlocks(input) || input.shape[2] != y.shape[2]) return out;
  }
  if (KeepsTail(node)) out.push_back(SameLayouts(node, ChannelBlocks()));
  return out;
}

Result<ir::Lowering> LowerSelect(const SelectRules& rules,
                                 const ir::KernelNode& node,
                                 const ir::DeviceInfo&) {
  const ir::TensorDesc& y = node.outputs[0];
  const std::vector<int64_t> extents = ir::PhysicalDims(y);
  std::vector<std::vector<int64_t>> strides;
  for (const ir::TensorDesc& input : node.inputs) {
    strides.push_back(BroadcastStrides(ir::PhysicalDims(input), extents));
  }
  const std::vector<Axis> axes = JoinAxes(extents, strides);
  const auto outer = std::span(axes).subspan(1);
  const bool copy = rules.of_then == kernels::ConvertRule::kBits &&
                    rules.of_else == kernels::ConvertRule::kBits;
  Launch launch("ops/elementwise/select.cl", "select_rows");
  const char* word = BitsType(y.type);
  launch.Option(StrCat("-DWORD=", word));
  if (copy) {
    launch.Option(StrCat("-DCOPY -DX=", word, " -DZ=", word, " -DOUT=", word));
  } else {
    launch.Type("X", node.inputs[kThen])
        .Type("Z", node.inputs[kElse])
        .Type("OUT", y);
  }
  launch.Option(StrCat("-DX_RULE=", RuleName(rules.of_then)));
  launch.Option(StrCat("-DZ_RULE=", RuleName(rules.of_else)));
  launch.Input("condition", node, kCondition)
      .Input("x", node, kThen)
      .Input("z", node, kElse)
      .Output("y", node, 0)
      .InPlace(node, kCondition)
      .InPlace(node, kThen)
      .InPlace(node, kElse);
  launch.Packed("outer", PackAxes(outer, 3), 4)
      .Int("outer_rank", static_cast<int64_t>(outer.size()))
      .Int("rows", CountElements(outer))
      .Int("row_length", axes[0].extent)
      .Int("condition_step", axes[0].strides[kCondition])
      .Int("x_step", axes[0].strides[kThen])
      .Int("z_step", axes[0].strides[kElse]);
  AddConvertInput("x", node.inputs[kThen], y, rules.of_then, &launch);
  AddConvertInput("z", node.inputs[kElse], y, rules.of_else, &launch);
  launch.OutputQuantization("y", y);
  return launch.Items(CeilDiv(axes[0].extent, 16) * CountElements(outer))
      .Build();
}

}  // namespace

TIM_OPERATOR(select) {
  registry.Add(ir::OpSchema{
      .name = "Select",
      .inputs = {3, 3},
      .check = CheckSelect,
      .doubts = FindDoubts,
      .infer_shapes = InferSelect,
      .eval = EvalSelect,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .sliced_inputs = SliceAlike,
      .permute_rule = KeepAttributes,
      .vjp = SelectVjp});
  registry.Add(ir::TypedKernel<SelectRules>{.op = "tim.Select",
                                            .name = "select",
                                            .analyze = AnalyzeSelect,
                                            .layouts = SelectLayouts,
                                            .cost = CostAt(prices::kSelect),
                                            .lower = LowerSelect});
}

}  // namespace tim::ops
