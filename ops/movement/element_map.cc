// ElementMap: elements of the input at places that are affine in the digits of
// their index, and zeros.  The compiler makes it of operators that follow one
// another (OpSchema::element_map); users cannot.
#include <utility>

#include "ir/element_map/compose.h"
#include "ir/element_map_attributes.h"
#include "ir/op_registry.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/movement/channel_blocks.h"
#include "ops/movement/flat_move.h"

namespace tim::ops {
namespace {

Status InferElementMap(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(ir::ElementMapOf(context.attributes()).status());
  TIM_ASSIGN_OR_RETURN(context.outputs[0].desc.shape,
                       ir::MappedShape(context.attributes()));
  InferTypeFromInput(context);
  return OkStatus();
}

Status RefuseChannels(const char* operand, const ir::TensorDesc& desc) {
  if (!desc.quantized() || !desc.quantization.per_channel()) return OkStatus();
  return InvalidArgument(operand, " ", desc.ToString(),
                         " is quantized per channel, expected per tensor");
}

// The kernels do not look whether an index is inside.
Status CheckElementMap(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kOutput, 0));
  TIM_RETURN_IF_ERROR(RefuseChannels("input 0", *view.inputs[0]));
  TIM_RETURN_IF_ERROR(RefuseChannels("output 0", *view.outputs[0]));
  TIM_ASSIGN_OR_RETURN(const ir::ElementMap map,
                       ir::ElementMapOf(view.node.attributes));
  const ir::Shape& input = view.inputs[0]->shape;
  if (!input.IsStatic() ||
      ir::StaysInside(map, input.NumElements().value_or(0))) {
    return OkStatus();
  }
  return InvalidArgument(
      "attributes 'start' and 'strides' reach outside of the input ",
      input.ToString());
}

Result<std::vector<FlatMove>> MoveOf(const ir::NodeView& view) {
  TIM_ASSIGN_OR_RETURN(const ir::ElementMap read,
                       ir::ElementMapOf(view.node.attributes));
  const ir::ElementMap map = ir::Joined(read);
  const ir::TensorDesc& from = *view.inputs[0];
  const ir::TensorDesc& to = *view.outputs[0];
  return std::vector{
      FlatMove{.flat = Flatten(map),
               .rule = kernels::ConvertRuleOf(from, to),
               .channels = ChannelSourcesOf(map, from.shape, to.shape)}};
}

ir::OpSchema ElementMapSchema() {
  using ir::AttributeType;
  const auto ints = [](const char* name) {
    return ir::AttributeSpec{.name = name, .type = AttributeType::kInts};
  };
  ir::OpSchema schema = FlatMoveSchema("ElementMap", MoveOf);
  schema.attributes = {ints("shape"),
                       {.name = "start"},
                       ints("extents"),
                       ints("strides"),
                       ints("bounds")};
  schema.check = CheckElementMap;
  schema.infer_shapes = InferElementMap;
  return schema;
}

}  // namespace

TIM_OPERATOR(element_map) {
  registry.Add(ElementMapSchema());
  registry.Add(FlatMoveKernel("ElementMap", MoveOf));
}

}  // namespace tim::ops
