// Stack: tensors of one shape one behind the other along a new axis.
#include <algorithm>
#include <utility>

#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/movement/index_map.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

// A count that is none is told by InferStack.
ir::Arity StackArity(const ir::AttributeMap& attributes) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const int64_t count = attributes.Int("input_cnt");
  if (count < 1 || count > kMost) return {1, kMost};
  return {static_cast<int>(count), static_cast<int>(count)};
}

Status Differs(int index, const ir::Shape& shape, const ir::Shape& before) {
  return InvalidArgument("input ", index, " ", shape.ToString(),
                         " differs from the inputs before it, ",
                         before.ToString());
}

// The shape that all inputs have, as far as it is known.
Result<ir::Shape> CommonShape(const ir::InferContext& context) {
  ir::Shape common;
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) {
    const ir::Shape& shape = context.shape(i);
    if (!shape.ranked()) continue;
    if (!common.ranked()) {
      common = shape;
      continue;
    }
    if (shape.rank() != common.rank()) return Differs(i, shape, common);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == ir::kUnknownDim) continue;
      if (common[axis] == ir::kUnknownDim) {
        common.set_dim(axis, shape[axis]);
      } else if (common[axis] != shape[axis]) {
        return Differs(i, shape, common);
      }
    }
  }
  return common;
}

bool AreScalars(const ir::InferContext& context) {
  return std::all_of(context.inputs.begin(), context.inputs.end(),
                     [](const auto& input) { return input.is_scalar; });
}

Status InferStack(ir::InferContext& context) {
  const int64_t count = context.attributes().Int("input_cnt");
  if (count != static_cast<int64_t>(context.inputs.size())) {
    return InvalidArgument("attribute 'input_cnt' is ", count,
                           ", expected the number of inputs, ",
                           context.inputs.size());
  }
  TIM_ASSIGN_OR_RETURN(const ir::Shape common, CommonShape(context));
  if (!common.ranked()) return OkStatus();
  const bool scalars = AreScalars(context);
  std::vector<int64_t> dims = scalars ? std::vector<int64_t>() : common.dims();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(context.attributes().Int("axis"),
                                static_cast<int>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, count);
  if (dims.size() > ir::kMaxRank) {
    return InvalidArgument("the output has ", dims.size(), " axes, at most ",
                           ir::kMaxRank, " are legal");
  }
  context.outputs[0].desc.shape = ir::Shape(std::move(dims));
  return OkStatus();
}

Result<std::vector<IndexMap>> StackMaps(const ir::NodeView& view) {
  const int rank = view.outputs[0]->shape.rank();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(view.node.attributes.Int("axis"), rank));
  std::vector<IndexMap> maps;
  for (int i = 0; i < static_cast<int>(view.inputs.size()); ++i) {
    IndexMap map(view, i, 0);
    map.to_start[axis] = i;
    // Scalars have an axis of their own, of one element.
    for (int to = 0; to < rank; ++to) {
      if (to != axis) map.Loop(map.to[to], to < axis ? to : to - 1, 1, to, 1);
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

// Along the outermost axis equal elements lie as they are.
ir::InPlaceOffsets JoinedOffsets(const ir::NodeView& view) {
  const ir::TensorDesc& to = *view.outputs[0];
  const auto axis = WrapAxis(view.node.attributes.Int("axis"), to.shape.rank());
  if (!axis.ok() || ir::Info(to.type).bits < 8 || !to.layout.dense() ||
      to.shape.Product(*axis + 1, to.shape.rank()) != 1) {
    return {};
  }
  std::vector<int64_t> offsets;
  int64_t end = 0;
  for (const ir::TensorDesc* input : view.inputs) {
    const Result<int64_t> bytes = ir::ByteSize(*input);
    if (!bytes.ok() || !ir::SameElements(*input, to) ||
        !input->layout.dense()) {
      return {};
    }
    offsets.push_back(end);
    end += *bytes;
  }
  return {.inputs = std::move(offsets)};
}

// The new axis stays where it is.
Result<ir::PermutedNode> PermuteStack(const ir::NodeView& view, int,
                                      std::span<const int> perm) {
  ir::PermutedNode out = ir::UnpermutedNode(view);
  const auto rank = static_cast<int>(perm.size()) + 1;
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(view.node.attributes.Int("axis"), rank));
  out.attributes.Set("axis", int64_t{axis});
  out.inputs.assign(out.inputs.size(), {perm.begin(), perm.end()});
  ir::Permutation& whole = out.outputs[0];
  for (const int old : perm) whole.push_back(old < axis ? old : old + 1);
  whole.insert(whole.begin() + axis, axis);
  return out;
}

ir::OpSchema StackSchema() {
  ir::OpSchema schema =
      IndexMapSchema("Stack", {{.name = "axis"}, {.name = "input_cnt"}},
                     InferStack, StackMaps);
  schema.input_arity = StackArity;
  schema.in_place_offsets = JoinedOffsets;
  schema.permute_rule = PermuteStack;
  schema.vjp = StackVjp;
  return schema;
}

}  // namespace

TIM_OPERATOR(stack) {
  registry.Add(StackSchema());
  registry.Add(IndexMapKernel("Stack", StackMaps));
}

}  // namespace tim::ops
