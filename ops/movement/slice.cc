// Slice: a box of the input, every step-th element of it.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/shapes.h"
#include "ops/movement/index_map.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

constexpr char kStart[] = "start";
constexpr char kLength[] = "length";
constexpr char kStep[] = "step";

// Number of axes that are sliced; those beyond them are taken whole.
Result<int> SlicedAxes(const ir::AttributeMap& attributes,
                       const ir::Shape& input) {
  const int64_t dims = attributes.Int("dims");
  const auto count = static_cast<int64_t>(attributes.Ints(kStart).size());
  if (dims < 0 || dims > ir::kMaxRank) {
    return InvalidArgument("attribute 'dims' is ", dims, ", expected 0 to ",
                           ir::kMaxRank);
  }
  const int64_t expected = dims != 0        ? dims
                           : input.ranked() ? input.rank()
                                            : count;
  if (input.ranked() && expected > input.rank()) {
    return InvalidArgument("attribute 'dims' is ", dims, ", the input ",
                           input.ToString(), " has ", input.rank(), " axes");
  }
  for (const char* name : {kStart, kLength, kStep}) {
    const auto& values = attributes.Ints(name);
    const auto size = static_cast<int64_t>(values.size());
    if (size == expected || (name == kStep && size == 0)) continue;
    return InvalidArgument("attribute '", name, "' has ", size,
                           " values, expected one for each of ", expected,
                           " axes");
  }
  return static_cast<int>(expected);
}

int64_t StepOf(const ir::AttributeMap& attributes, int axis) {
  const auto& steps = attributes.Ints(kStep);
  return steps.empty() ? 1 : steps[axis];
}

Status CheckAxis(const ir::AttributeMap& attributes, int axis, int64_t extent) {
  const int64_t start = attributes.Ints(kStart)[axis];
  const int64_t length = attributes.Ints(kLength)[axis];
  const int64_t step = StepOf(attributes, axis);
  if (step < 1) {
    return InvalidArgument("attribute 'step' is ", step, " along axis ", axis,
                           ", expected 1 or more");
  }
  if (length < 1) {
    return InvalidArgument("attribute 'length' is ", length, " along axis ",
                           axis, ", expected 1 or more");
  }
  const auto end = CheckedAdd(start, length);
  if (start >= 0 && end && (extent == ir::kUnknownDim || *end <= extent)) {
    return OkStatus();
  }
  return InvalidArgument("attributes 'start' ", start, " and 'length' ", length,
                         " reach outside of the extent ", extent,
                         " along axis ", axis);
}

Status InferSlice(ir::InferContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  const ir::Shape& input = context.shape(0);
  TIM_ASSIGN_OR_RETURN(const int axes, SlicedAxes(attributes, input));
  // `dims` may leave slower axes, as many as the input has.
  if (!input.ranked() && attributes.Int("dims") != 0) return OkStatus();
  ir::Shape& output = context.outputs[0].desc.shape;
  output = input.ranked() ? input : ir::Shape::OfRank(axes);
  for (int axis = 0; axis < axes; ++axis) {
    const int64_t bound = input.ranked() ? input.Bound(axis) : ir::kUnknownDim;
    TIM_RETURN_IF_ERROR(CheckAxis(attributes, axis, bound));
    output.set_dim(axis, CeilDiv(attributes.Ints(kLength)[axis],
                                 StepOf(attributes, axis)));
  }
  return OkStatus();
}

Result<std::vector<IndexMap>> SliceMap(const ir::NodeView& view) {
  const ir::AttributeMap& attributes = view.node.attributes;
  IndexMap map(view, 0, 0);
  TIM_ASSIGN_OR_RETURN(const int axes,
                       SlicedAxes(attributes, view.inputs[0]->shape));
  for (int axis = 0; axis < static_cast<int>(map.to.size()); ++axis) {
    const bool sliced = axis < axes;
    if (sliced) map.from_start[axis] = attributes.Ints(kStart)[axis];
    map.Loop(map.to[axis], axis, sliced ? StepOf(attributes, axis) : 1, axis,
             1);
  }
  return std::vector{map};
}

// Every axis gets its values, those that were taken whole too.
Result<ir::PermutedNode> PermuteSlice(const ir::NodeView& view, int operand,
                                      std::span<const int> perm) {
  const ir::Shape& input = view.inputs[0]->shape;
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       KeepAttributes(view, operand, perm));
  TIM_ASSIGN_OR_RETURN(const int axes, SlicedAxes(out.attributes, input));
  std::vector<int64_t> start = out.attributes.Ints(kStart);
  std::vector<int64_t> length = out.attributes.Ints(kLength);
  std::vector<int64_t> step(axes, 1);
  for (int axis = 0; axis < axes; ++axis) {
    step[axis] = StepOf(out.attributes, axis);
  }
  for (int axis = axes; axis < input.rank(); ++axis) {
    if (input[axis] == ir::kUnknownDim) {
      return Unimplemented("axis ", axis, " is taken whole, but unknown");
    }
    start.push_back(0);
    length.push_back(input[axis]);
    step.push_back(1);
  }
  out.attributes.Set("dims", int64_t{input.rank()});
  out.attributes.Set(kStart, ir::Permuted(start, perm));
  out.attributes.Set(kLength, ir::Permuted(length, perm));
  out.attributes.Set(kStep, ir::Permuted(step, perm));
  return out;
}

ir::OpSchema SliceSchema() {
  using ir::AttributeType;
  ir::OpSchema schema =
      IndexMapSchema("Slice",
                     {{.name = "dims"},
                      {.name = kStart, .type = AttributeType::kInts},
                      {.name = kLength, .type = AttributeType::kInts},
                      {kStep, AttributeType::kInts, std::vector<int64_t>()}},
                     InferSlice, SliceMap);
  schema.surplus_inputs = 4;  // ONNX: starts, ends, axes, steps
  schema.permute_rule = PermuteSlice;
  schema.vjp = SliceVjp;
  return schema;
}

}  // namespace

TIM_OPERATOR(slice) {
  registry.Add(SliceSchema());
  registry.Add(IndexMapKernel("Slice", SliceMap));
}

}  // namespace tim::ops
