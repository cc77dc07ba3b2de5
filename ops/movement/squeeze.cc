// Squeeze: the same elements without axes of extent 1.
#include <algorithm>

#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/movement/index_map.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

// Whether an axis goes; without a list every axis of extent 1 does.
Result<std::vector<bool>> Dropped(const ir::AttributeMap& attributes,
                                  const ir::Shape& input) {
  const auto& axes = attributes.Ints("axis");
  std::vector<bool> dropped(input.rank(), false);
  for (const int64_t listed : axes) {
    TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(listed, input.rank()));
    if (input[axis] != 1 && input[axis] != ir::kUnknownDim) {
      return InvalidArgument("axis ", axis, " has an extent of ", input[axis],
                             ", only axes of extent 1 can be dropped");
    }
    dropped[axis] = true;
  }
  for (int axis = 0; axis < input.rank() && axes.empty(); ++axis) {
    dropped[axis] = input[axis] == 1;
  }
  return dropped;
}

Status InferSqueeze(ir::InferContext& context) {
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const auto dropped,
                       Dropped(context.attributes(), input));
  const auto& dims = input.dims();
  const bool listed = !context.attributes().Ints("axis").empty();
  if (!listed && std::count(dims.begin(), dims.end(), ir::kUnknownDim) != 0) {
    return OkStatus();
  }
  std::vector<int64_t> kept;
  for (int axis = 0; axis < input.rank(); ++axis) {
    if (!dropped[axis]) kept.push_back(dims[axis]);
  }
  context.outputs[0].is_scalar = kept.empty();
  if (kept.empty()) kept.push_back(1);
  context.outputs[0].desc.shape = ir::Shape(std::move(kept));
  return OkStatus();
}

Result<std::vector<IndexMap>> SqueezeMap(const ir::NodeView& view) {
  TIM_ASSIGN_OR_RETURN(const auto dropped,
                       Dropped(view.node.attributes, view.inputs[0]->shape));
  IndexMap map(view, 0, 0);
  int to = 0;
  for (int axis = 0; axis < static_cast<int>(dropped.size()); ++axis) {
    if (!dropped[axis]) map.Loop(map.from[axis], axis, 1, to++, 1);
  }
  return std::vector{map};
}

}  // namespace

TIM_OPERATOR(squeeze) {
  ir::OpSchema schema = IndexMapSchema(
      "Squeeze", {{.name = "axis", .type = ir::AttributeType::kInts}},
      InferSqueeze, SqueezeMap);
  schema.surplus_inputs = 1;  // ONNX: axes
  schema.vjp = ReshapeVjp;
  registry.Add(std::move(schema));
  registry.Add(IndexMapKernel("Squeeze", SqueezeMap));
}

}  // namespace tim::ops
