// ScatterND: updates added to zeros; ScatterND_ONNX_V16: updates that replace
// slices of a tensor or are combined with them.
#include <algorithm>

#include "ir/op_registry.h"
#include "ops/doubts/codes.h"
#include "ops/elements/shapes.h"
#include "ops/indexing/scatter.h"

namespace tim::ops {
namespace {

constexpr ScatterOp kScatterND = {.name = "ScatterND"};
constexpr ScatterOp kScatterNDOnnx = {.name = "ScatterND_ONNX_V16",
                                      .data = 0,
                                      .indices = 1,
                                      .updates = 2,
                                      .negative = Negative::kFromEnd};

// As many updates as the coordinates' slices have elements.
Status CheckUpdates(const ir::Shape& output, const ir::Shape& indices,
                    const ir::Shape& updates) {
  TIM_RETURN_IF_ERROR(CheckCoordinateLength(indices, output));
  const auto found = updates.NumElements();
  if (!found || !output.IsStatic() || !indices.IsStatic()) return OkStatus();
  const ScatterShape shape = ScatterShapeOf(output, indices);
  if (*found == shape.run * shape.updates) return OkStatus();
  return InvalidArgument("the updates ", updates.ToString(), " have ", *found,
                         " elements, expected ", shape.updates, " slices of ",
                         shape.run, " for the coordinates ", indices.ToString(),
                         " in ", output.ToString());
}

Status CheckShapeAttribute(const std::vector<int64_t>& dims) {
  const bool positive = std::all_of(dims.begin(), dims.end(),
                                    [](int64_t dim) { return dim > 0; });
  if (positive && !dims.empty() && dims.size() <= ir::kMaxRank &&
      ir::Shape(dims).NumElements()) {
    return OkStatus();
  }
  return InvalidArgument("attribute 'shape' is [", StrJoin(dims, ", "),
                         "], expected 1 to ", ir::kMaxRank,
                         " extents >= 1 whose product fits 64 bits");
}

Status InferScatter(const ScatterOp& op, ir::InferContext& context) {
  ir::Shape& output = context.outputs[0].desc.shape;
  if (op.data < 0) {
    const std::vector<int64_t>& dims = context.attributes().Ints("shape");
    TIM_RETURN_IF_ERROR(CheckShapeAttribute(dims));
    output = ir::Shape(dims);
  } else {
    output = context.shape(op.data);
  }
  InferTypeFrom(context, op.data < 0 ? op.updates : op.data);
  return CheckUpdates(output, context.shape(op.indices),
                      context.shape(op.updates));
}

Status CheckScatter(const ScatterOp& op, const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckIndices(view, op.indices));
  const bool moves = op.ReductionOf(view.node.attributes) == Reduction::kNone;
  const auto check = [&](Operand operand, int index) -> Status {
    if (!moves) TIM_RETURN_IF_ERROR(CheckNumber(view, operand, index));
    return CheckMoved(view, operand, index);
  };
  if (op.data >= 0) TIM_RETURN_IF_ERROR(check(Operand::kInput, op.data));
  TIM_RETURN_IF_ERROR(check(Operand::kInput, op.updates));
  return check(Operand::kOutput, 0);
}

std::vector<std::string> FindDoubts(const ScatterOp& op,
                                    const ir::NodeView& view) {
  Doubts doubts;
  AddCodesDoubt(view, {op.data, op.updates}, {0}, &doubts);
  return doubts;
}

// An operation for each element of the output and of the updates.
ir::ComputeEstimate EstimateScatter(const ScatterOp& op,
                                    const ir::NodeView& view) {
  ir::ComputeEstimate estimate = ElementwiseEstimate(view, 1);
  const auto updates = view.inputs[op.updates]->shape.NumElements();
  estimate.flops += static_cast<double>(updates.value_or(0));
  return estimate;
}

// The axes of a slice may move, in the updates and in what they change; those
// that indices name, and the updates' order, stay.
Result<ir::PermutedNode> PermuteScatter(const ScatterOp& op,
                                        const ir::NodeView& view, int operand,
                                        std::span<const int> perm) {
  if (operand == op.indices) {
    return Unimplemented("the order of the updates must stay");
  }
  const ir::AttributeMap& attributes = view.node.attributes;
  const ir::Shape output = op.data < 0 ? ir::Shape(attributes.Ints("shape"))
                                       : view.inputs[op.data]->shape;
  const ir::Shape& indices = view.inputs[op.indices]->shape;
  const ir::Shape& updates = view.inputs[op.updates]->shape;
  const int64_t length = CoordinateLength(indices);
  const int slice = output.rank() - static_cast<int>(length);
  const auto lists = static_cast<int>(CoordinateDims(indices).size());
  if (length == ir::kUnknownDim || updates.rank() != slice + lists) {
    return Unimplemented("the updates ", updates.ToString(),
                         " do not show the axes of their slices");
  }
  for (int i = 0; i < slice; ++i) {
    if (updates[i] == output[i] && output[i] != ir::kUnknownDim) continue;
    return Unimplemented("the slices of the updates ", updates.ToString(),
                         " may have other extents than those of ",
                         output.ToString());
  }
  TIM_RETURN_IF_ERROR(CheckStay(perm, slice, static_cast<int>(perm.size())));
  const auto moved = [&](int rank) {
    ir::Permutation whole = ir::IdentityPermutation(rank);
    std::copy_n(perm.begin(), slice, whole.begin());
    return whole;
  };
  ir::PermutedNode out = ir::UnpermutedNode(view);
  out.outputs[0] = moved(output.rank());
  out.inputs[op.updates] = moved(updates.rank());
  if (op.data >= 0) {
    out.inputs[op.data] = out.outputs[0];
  } else {
    out.attributes.Set("shape", ir::Permuted(output.dims(), out.outputs[0]));
  }
  return out;
}

ir::OpSchema ScatterSchema(const ScatterOp& op,
                           std::vector<ir::AttributeSpec> attributes) {
  const int inputs = op.updates + 1;
  return {
      .name = op.name,
      .inputs = {inputs, inputs},
      // TFLite: shape, where the operator has it and not a tensor.
      .surplus_inputs = op.data < 0 ? 1 : 0,
      .attributes = std::move(attributes),
      .check =
          [op](const ir::NodeView& view) { return CheckScatter(op, view); },
      .doubts = [op](const ir::NodeView& view) { return FindDoubts(op, view); },
      .infer_shapes =
          [op](ir::InferContext& context) { return InferScatter(op, context); },
      .eval =
          [op](const ir::EvalContext& context) {
            return EvalScatter(op, context);
          },
      .memory_estimate =
          [op](const ir::NodeView& view) { return ScatterBytes(op, view); },
      .compute_estimate =
          [op](const ir::NodeView& view) { return EstimateScatter(op, view); },
      .permute_rule =
          [op](const ir::NodeView& view, int operand,
               std::span<const int> perm) {
            return PermuteScatter(op, view, operand, perm);
          }};
}

}  // namespace

TIM_OPERATOR(scatternd) {
  registry.Add(ScatterSchema(
      kScatterND, {{.name = "shape", .type = ir::AttributeType::kInts}}));
  registry.Add(ScatterKernel(kScatterND, "scatternd"));
  registry.Add(ScatterSchema(
      kScatterNDOnnx,
      {{.name = kScatterReduction,
        .default_value = int64_t{0},
        .values = {
            {"none", 0}, {"add", 1}, {"mul", 2}, {"max", 3}, {"min", 4}}}}));
  registry.Add(ScatterKernel(kScatterNDOnnx, "scatternd_onnx_v16"));
}

}  // namespace tim::ops
