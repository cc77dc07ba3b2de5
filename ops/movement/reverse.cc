// Reverse and ShuffleChannel: the elements along axes in another order.
#include <utility>

#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/movement/index_map.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

Result<std::vector<bool>> ReversedAxes(const ir::AttributeMap& attributes,
                                       int rank) {
  std::vector<bool> reversed(rank, false);
  for (const int64_t listed : attributes.Ints("axis")) {
    TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(listed, rank));
    reversed[axis] = true;
  }
  return reversed;
}

Status InferReverse(ir::InferContext& context) {
  const ir::Shape& input = context.shape(0);
  if (input.ranked()) {
    TIM_RETURN_IF_ERROR(
        ReversedAxes(context.attributes(), input.rank()).status());
  }
  context.outputs[0].desc.shape = input;
  context.outputs[0].is_scalar = context.inputs[0].is_scalar;
  return OkStatus();
}

Result<std::vector<IndexMap>> ReverseMap(const ir::NodeView& view) {
  const int rank = view.inputs[0]->shape.rank();
  TIM_ASSIGN_OR_RETURN(const auto reversed,
                       ReversedAxes(view.node.attributes, rank));
  IndexMap map(view, 0, 0);
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t extent = map.from[axis];
    if (reversed[axis]) map.from_start[axis] = extent - 1;
    map.Loop(extent, axis, reversed[axis] ? -1 : 1, axis, 1);
  }
  return std::vector{map};
}

Result<ir::PermutedNode> PermuteReverse(const ir::NodeView& view, int operand,
                                        std::span<const int> perm) {
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       KeepAttributes(view, operand, perm));
  std::vector<int64_t> axes;
  for (const int64_t listed : view.node.attributes.Ints("axis")) {
    TIM_ASSIGN_OR_RETURN(const int axis,
                         WrapAxis(listed, static_cast<int>(perm.size())));
    axes.push_back(ir::NewAxis(perm, axis));
  }
  out.attributes.Set("axis", std::move(axes));
  return out;
}

// ---- ShuffleChannel ---------------------------------------------------------

Status InferShuffle(ir::InferContext& context) {
  const int64_t groups = context.attributes().Int("num_groups");
  const ir::Shape& input = context.shape(0);
  context.outputs[0].desc.shape = input;
  if (groups < 1) {
    return InvalidArgument("attribute 'num_groups' is ", groups,
                           ", expected 1 or more");
  }
  if (!input.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(
      const int axis,
      WrapAxis(context.attributes().Int("index_axis"), input.rank()));
  if (input[axis] == ir::kUnknownDim || input[axis] % groups == 0) {
    return OkStatus();
  }
  return InvalidArgument("attribute 'num_groups' is ", groups,
                         ", which does not divide the extent ", input[axis],
                         " of axis ", axis);
}

// output[k * groups + g] = input[g * size + k].
Result<std::vector<IndexMap>> ShuffleMap(const ir::NodeView& view) {
  const int rank = view.inputs[0]->shape.rank();
  const int64_t groups = view.node.attributes.Int("num_groups");
  TIM_ASSIGN_OR_RETURN(const int shuffled,
                       WrapAxis(view.node.attributes.Int("index_axis"), rank));
  IndexMap map(view, 0, 0);
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != shuffled) {
      map.Loop(map.from[axis], axis, 1, axis, 1);
      continue;
    }
    const int64_t size = map.from[axis] / groups;
    map.Loop(groups, axis, size, axis, 1).Loop(size, axis, 1, axis, groups);
  }
  return std::vector{map};
}

}  // namespace

TIM_OPERATOR(reverse) {
  ir::OpSchema reverse = IndexMapSchema(
      "Reverse", {{.name = "axis", .type = ir::AttributeType::kInts}},
      InferReverse, ReverseMap);
  reverse.surplus_inputs = 1;  // TFLite: axes
  reverse.permute_rule = PermuteReverse;
  reverse.vjp = ReverseVjp;
  registry.Add(std::move(reverse));
  registry.Add(IndexMapKernel("Reverse", ReverseMap));
  ir::OpSchema shuffle = IndexMapSchema(
      "ShuffleChannel", {{.name = "num_groups"}, {.name = "index_axis"}},
      InferShuffle, ShuffleMap);
  shuffle.permute_rule = MoveAxis("index_axis");
  registry.Add(std::move(shuffle));
  registry.Add(IndexMapKernel("ShuffleChannel", ShuffleMap));
}

}  // namespace tim::ops
