// Split and Unstack: an axis of the input in consecutive parts; Unstack's are
// of extent 1 and lose the axis.
#include <algorithm>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/movement/index_map.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

constexpr char kSlices[] = "slices";
constexpr char kOutputs[] = "output_num";

ir::Arity SplitArity(const ir::AttributeMap& attributes) {
  const auto count = static_cast<int>(attributes.Ints(kSlices).size());
  return {count, count};
}

// A count that is none is told by InferUnstack.
ir::Arity UnstackArity(const ir::AttributeMap& attributes) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const int64_t count = attributes.Int(kOutputs);
  if (count < 1 || count > kMost) return {1, kMost};
  return {static_cast<int>(count), static_cast<int>(count)};
}

// Loops over the input's axes; `axis` is axis `axis` of the output from `start`
// on, or is gone.
IndexMap PartMap(const ir::NodeView& view, int output, int axis, int64_t start,
                 bool keep) {
  IndexMap map(view, 0, output);
  map.from_start[axis] = start;
  for (int i = 0; i < static_cast<int>(map.from.size()); ++i) {
    if (i == axis && !keep) continue;
    const int to = i > axis && !keep ? i - 1 : i;
    map.Loop(map.to[to], i, 1, to, 1);
  }
  return map;
}

Status CheckSlices(const std::vector<int64_t>& slices, int axis,
                   int64_t extent) {
  std::optional<int64_t> sum = 0;
  for (const int64_t slice : slices) {
    if (slice < 1) {
      return InvalidArgument("attribute 'slices' has an extent of ", slice,
                             ", expected 1 or more");
    }
    if (sum) sum = CheckedAdd(*sum, slice);
  }
  if (extent == ir::kUnknownDim || sum == extent) return OkStatus();
  return InvalidArgument("attribute 'slices' [", StrJoin(slices, ", "),
                         "] does not add up to the extent ", extent,
                         " along axis ", axis);
}

Status InferSplit(ir::InferContext& context) {
  const auto& slices = context.attributes().Ints(kSlices);
  const ir::Shape& input = context.shape(0);
  if (slices.empty()) return InvalidArgument("attribute 'slices' is empty");
  if (!input.ranked()) {
    return CheckSlices(slices, 0, ir::kUnknownDim);
  }
  TIM_ASSIGN_OR_RETURN(
      const int axis, WrapAxis(context.attributes().Int("axis"), input.rank()));
  TIM_RETURN_IF_ERROR(CheckSlices(slices, axis, input[axis]));
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    context.outputs[i].desc.shape = input;
    context.outputs[i].desc.shape.set_dim(axis, slices[i]);
  }
  return OkStatus();
}

Result<std::vector<IndexMap>> SplitMaps(const ir::NodeView& view) {
  TIM_ASSIGN_OR_RETURN(
      const int axis,
      WrapAxis(view.node.attributes.Int("axis"), view.inputs[0]->shape.rank()));
  const auto& slices = view.node.attributes.Ints(kSlices);
  std::vector<IndexMap> maps;
  int64_t start = 0;
  for (size_t i = 0; i < slices.size(); ++i) {
    maps.push_back(PartMap(view, static_cast<int>(i), axis, start, true));
    start += slices[i];
  }
  return maps;
}

Status InferUnstack(ir::InferContext& context) {
  const int64_t count = context.attributes().Int(kOutputs);
  const ir::Shape& input = context.shape(0);
  if (count != static_cast<int64_t>(context.outputs.size())) {
    return InvalidArgument("attribute 'output_num' is ", count,
                           ", expected the number of outputs, ",
                           context.outputs.size());
  }
  if (!input.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(
      const int axis, WrapAxis(context.attributes().Int("axis"), input.rank()));
  if (input[axis] != ir::kUnknownDim && input[axis] != count) {
    return InvalidArgument("attribute 'output_num' is ", count,
                           ", expected the extent of axis ", axis, ", ",
                           input[axis]);
  }
  ir::Shape part = ir::Shape::OfRank(std::max(input.rank() - 1, 1));
  if (input.rank() == 1) part = ir::Shape({1});
  for (int i = 0; i < input.rank() - 1; ++i) {
    const int from = i < axis ? i : i + 1;
    part.set_dim(i, input[from]);
    if (input[from] == ir::kUnknownDim &&
        input.Bound(from) != ir::kUnknownDim) {
      part.SetBound(i, input.Bound(from));
    }
  }
  for (auto& output : context.outputs) {
    output.desc.shape = part;
    output.is_scalar = input.rank() == 1;
  }
  return OkStatus();
}

Result<std::vector<IndexMap>> UnstackMaps(const ir::NodeView& view) {
  TIM_ASSIGN_OR_RETURN(
      const int axis,
      WrapAxis(view.node.attributes.Int("axis"), view.inputs[0]->shape.rank()));
  std::vector<IndexMap> maps;
  for (int i = 0; i < static_cast<int>(view.outputs.size()); ++i) {
    maps.push_back(PartMap(view, i, axis, i, false));
  }
  return maps;
}

// The parts have the input's other axes.
Result<ir::PermutedNode> PermuteUnstack(const ir::NodeView& view, int,
                                        std::span<const int> perm) {
  ir::PermutedNode out = ir::UnpermutedNode(view);
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(view.node.attributes.Int("axis"),
                                static_cast<int>(perm.size())));
  out.attributes.Set("axis", int64_t{ir::NewAxis(perm, axis)});
  out.inputs[0].assign(perm.begin(), perm.end());
  ir::Permutation part;
  for (const int old : perm) {
    if (old != axis) part.push_back(old > axis ? old - 1 : old);
  }
  out.outputs.assign(out.outputs.size(), part);
  return out;
}

ir::OpSchema SplitSchema() {
  ir::OpSchema schema = IndexMapSchema(
      "Split",
      {{.name = "axis"}, {.name = kSlices, .type = ir::AttributeType::kInts}},
      InferSplit, SplitMaps);
  schema.surplus_inputs = 2;  // TFLite SPLIT_V: size_splits, axis
  schema.output_arity = SplitArity;
  schema.permute_rule = MoveAxis("axis");
  schema.vjp = SplitVjp;
  return schema;
}

ir::OpSchema UnstackSchema() {
  ir::OpSchema schema =
      IndexMapSchema("Unstack", {{.name = "axis"}, {.name = kOutputs}},
                     InferUnstack, UnstackMaps);
  schema.output_arity = UnstackArity;
  schema.permute_rule = PermuteUnstack;
  schema.vjp = UnstackVjp;
  return schema;
}

}  // namespace

TIM_OPERATOR(split) {
  registry.Add(SplitSchema());
  registry.Add(IndexMapKernel("Split", SplitMaps));
  registry.Add(UnstackSchema());
  registry.Add(IndexMapKernel("Unstack", UnstackMaps));
}

}  // namespace tim::ops
