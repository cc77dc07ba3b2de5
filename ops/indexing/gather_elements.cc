// GatherElements: each element chosen by an index along one axis.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/convert.h"
#include "ops/elements/shapes.h"
#include "ops/indexing/indices.h"
#include "ops/launch/pieces.h"

namespace tim::ops {
namespace {

// Data as [inner, extent, outer], indices as [run, count, rest]: element
// (i, n, o) of the output is (i, index, o) of the data.
struct Columns {
  int64_t inner = 1;
  int64_t extent = 1;
  int64_t run = 1;
  int64_t count = 1;
};

Columns ColumnsOf(const ir::Shape& data, const ir::Shape& indices, int axis) {
  return {.inner = data.Product(0, axis),
          .extent = data[axis],
          .run = indices.Product(0, axis),
          .count = indices[axis]};
}

// No more of `indices` than of `data` along dimensions [first, last).
Status CheckExtents(const ir::Shape& data, const ir::Shape& indices, int first,
                    int last) {
  for (int i = first; i < last; ++i) {
    if (data[i] == ir::kUnknownDim || indices[i] == ir::kUnknownDim) {
      return OkStatus();
    }
  }
  if (indices.Product(first, last) <= data.Product(first, last)) {
    return OkStatus();
  }
  return InvalidArgument("the indices ", indices.ToString(),
                         " have more elements than the data ", data.ToString(),
                         " along dimensions [", first, ", ", last, ")");
}

Status InferGatherElements(ir::InferContext& context) {
  InferTypeFrom(context, 0);
  const ir::Shape& data = context.shape(0);
  const ir::Shape& indices = context.shape(1);
  context.outputs[0].desc.shape = indices;
  if (!data.ranked() && !indices.ranked()) return OkStatus();
  const int rank = data.ranked() ? data.rank() : indices.rank();
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(context.attributes().Int("axis"), rank));
  if (!data.ranked()) return OkStatus();
  if (!indices.ranked()) {
    context.outputs[0].desc.shape = ir::Shape::OfRank(rank);
    return OkStatus();
  }
  if (indices.rank() != rank) {
    return InvalidArgument("the indices ", indices.ToString(),
                           " have another rank than the data ",
                           data.ToString());
  }
  TIM_RETURN_IF_ERROR(CheckExtents(data, indices, 0, axis));
  return CheckExtents(data, indices, axis + 1, rank);
}

Status CheckGatherElements(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckIndices(view, 1));
  TIM_RETURN_IF_ERROR(CheckMoved(view, Operand::kInput, 0));
  return CheckMoved(view, Operand::kOutput, 0);
}

Status EvalGatherElements(const ir::EvalContext& context) {
  const ir::Shape& data = context.inputs[0].desc->shape;
  const ir::Shape& shape = context.inputs[1].desc->shape;
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(context.attributes().Int("axis"), data.rank()));
  const Columns columns = ColumnsOf(data, shape, axis);
  const std::vector<Coordinate> coordinate = {{columns.extent, columns.inner}};
  kernels::ElementConverter converter(context.inputs[0], context.outputs[0]);
  const IndexReader indices(context.inputs[1]);
  const int64_t count = *shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = i % columns.run;
    const int64_t o = i / columns.run / columns.count;
    const int64_t place = PlaceOf(indices, i, coordinate, {});
    converter.Convert(k + place + o * columns.inner * columns.extent, i);
  }
  return OkStatus();
}

// Where both meet by coordinates, not by number.
Result<ir::PermutedNode> PermuteGatherElements(const ir::NodeView& view,
                                               int operand,
                                               std::span<const int> perm) {
  const ir::Shape& data = view.inputs[0]->shape;
  const ir::Shape& indices = view.inputs[1]->shape;
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(view.node.attributes.Int("axis"), data.rank()));
  for (int i = 0; i < data.rank(); ++i) {
    const bool same = data[i] == indices[i] && data[i] != ir::kUnknownDim;
    if (same || i == axis) continue;
    return Unimplemented("the indices ", indices.ToString(), " and the data ",
                         data.ToString(), " may differ along axis ", i);
  }
  return MoveAxis("axis")(view, operand, perm);
}

ir::OpSchema GatherElementsSchema() {
  return {
      .name = "GatherElements",
      .inputs = {2, 2},
      .attributes = {{.name = "axis"}},
      .check = CheckGatherElements,
      .doubts = FirstCodes,
      .infer_shapes = InferGatherElements,
      .eval = EvalGatherElements,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .permute_rule = PermuteGatherElements};
}

struct GatherProblem {
  Columns columns;
  kernels::ConvertRule rule = kernels::ConvertRule::kBits;
};

Result<GatherProblem> AnalyzeGatherElements(const ir::KernelNode& node,
                                            const ir::DeviceInfo&) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& indices = node.inputs[1];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, rule));
  TIM_RETURN_IF_ERROR(CheckKernelIndices(indices));
  TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(node.attributes().Int("axis"),
                                                from.shape.rank()));
  return GatherProblem{.columns = ColumnsOf(from.shape, indices.shape, axis),
                       .rule = rule};
}

Result<ir::Lowering> LowerGatherElements(const GatherProblem& problem,
                                         const ir::KernelNode& node,
                                         const ir::DeviceInfo& device) {
  const auto& [columns, rule] = problem;
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& indices = node.inputs[1];
  const ir::TensorDesc& to = node.outputs[0];
  const int64_t total = indices.shape.Product(0, indices.shape.rank());
  Launch launch("ops/indexing/gather_elements.cl", "gather_elements");
  AddConvertOptions(from, to, rule, &launch);
  AddIndexOptions(indices, {}, &launch);
  launch.Input("x", node, 0).Input("indices", node, 1).Output("y", node, 0);
  const int64_t piece = PiecesOf({.length = total}, device).piece;
  launch.Int("total", total)
      .Int("run", columns.run)
      .Int("count", columns.count)
      .Int("extent", columns.extent)
      .Int("stride", columns.inner)
      .Int("outer_stride", columns.inner * columns.extent)
      .Int("piece", piece)
      .InputQuantization("index", indices);
  AddConvertArguments(from, to, rule, &launch);
  return launch.Items(CeilDiv(total, piece)).Build();
}

ir::KernelDef GatherElementsKernel() {
  return ir::TypedKernel<GatherProblem>{.op = "tim.GatherElements",
                                        .name = "gather_elements",
                                        .analyze = AnalyzeGatherElements,
                                        .cost = CostAt(prices::kGatherElements),
                                        .lower = LowerGatherElements};
}

}  // namespace

TIM_OPERATOR(gather_elements) {
  registry.Add(GatherElementsSchema());
  registry.Add(GatherElementsKernel());
}

}  // namespace tim::ops
