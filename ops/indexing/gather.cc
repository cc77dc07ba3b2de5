// Gather, GatherNd and EmbeddingLookup: three ways to name rows of
// neighbouring elements (ops/indexing/rows.h).
#include <algorithm>
#include <string>
#include <utility>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/shapes.h"
#include "ops/indexing/gather_rules.h"
#include "ops/indexing/rows.h"

namespace tim::ops {
namespace {

using Dims = std::vector<int64_t>;

void Append(const ir::Shape& shape, int first, int last, Dims* dims) {
  for (int i = first; i < last; ++i) dims->push_back(shape[i]);
}

// ---- Gather -----------------------------------------------------------------

struct GatherAxes {
  int axis = 0;
  int batch = 0;  // How many of the slowest dimensions.
};

// `data` is ranked.
Result<GatherAxes> GatherAxesOf(const ir::AttributeMap& attributes,
                                const ir::Shape& data) {
  GatherAxes axes;
  const int64_t batch = attributes.Int("batch_dims");
  if (batch < 0 || batch >= data.rank()) {
    return InvalidArgument("attribute 'batch_dims' is ", batch,
                           ", expected [0, ", data.rank(), ") for input 0 ",
                           data.ToString());
  }
  axes.batch = static_cast<int>(batch);
  TIM_ASSIGN_OR_RETURN(axes.axis,
                       WrapAxis(attributes.Int("axis"), data.rank()));
  if (axes.axis < data.rank() - axes.batch) return axes;
  return InvalidArgument("axis ", axes.axis, " lies in the batch, the ", batch,
                         " slowest dimensions of ", data.ToString());
}

// The extents of the batch, which both inputs must agree on.
Result<Dims> BatchDims(const ir::Shape& data, const ir::Shape& indices,
                       int batch) {
  Dims dims;
  for (int i = 0; i < batch; ++i) {
    const int64_t a = data[data.rank() - batch + i];
    const int64_t b = indices[indices.rank() - batch + i];
    if (a != b && a != ir::kUnknownDim && b != ir::kUnknownDim) {
      return InvalidArgument("the batches of input 0 ", data.ToString(),
                             " and the indices ", indices.ToString(),
                             " differ: ", a, " and ", b);
    }
    dims.push_back(a == ir::kUnknownDim ? b : a);
  }
  return dims;
}

Status InferGather(ir::InferContext& context) {
  InferTypeFrom(context, 0);
  const ir::Shape& data = context.shape(0);
  auto& output = context.outputs[0];
  output.desc.shape = ir::Shape();
  if (!data.ranked()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const GatherAxes axes,
                       GatherAxesOf(context.attributes(), data));
  const bool scalar = context.inputs[1].is_scalar;
  if (!scalar && !context.shape(1).ranked()) return OkStatus();
  const ir::Shape indices = scalar ? ir::Shape(Dims()) : context.shape(1);
  if (indices.rank() < axes.batch) {
    return InvalidArgument("the indices ", indices.ToString(),
                           " have fewer dimensions than the batch, ",
                           axes.batch);
  }
  TIM_ASSIGN_OR_RETURN(const Dims batch, BatchDims(data, indices, axes.batch));
  Dims dims;
  Append(data, 0, axes.axis, &dims);
  Append(indices, 0, indices.rank() - axes.batch, &dims);
  Append(data, axes.axis + 1, data.rank() - axes.batch, &dims);
  dims.insert(dims.end(), batch.begin(), batch.end());
  output.is_scalar = dims.empty();
  if (dims.empty()) dims.push_back(1);
  output.desc.shape = ir::Shape(std::move(dims));
  return OkStatus();
}

Result<RowLookup> GatherRows(const ir::AttributeMap& attributes,
                             const ir::Shape& data, const ir::Shape& indices) {
  TIM_ASSIGN_OR_RETURN(const GatherAxes axes, GatherAxesOf(attributes, data));
  const int end = data.rank() - axes.batch;
  RowLookup lookup;
  lookup.run = data.Product(0, axes.axis);
  lookup.count = indices.Product(0, indices.rank() - axes.batch);
  lookup.middle = data.Product(axes.axis + 1, end);
  lookup.middle_stride = lookup.run * data[axes.axis];
  lookup.batches = data.Product(end, data.rank());
  lookup.batch_stride = lookup.middle_stride * lookup.middle;
  lookup.coordinate = {{data[axes.axis], lookup.run}};
  return lookup;
}

// The input's axes other than the batch may move, and the indices' own.
Result<ir::PermutedNode> PermuteGather(const ir::NodeView& view, int operand,
                                       std::span<const int> perm) {
  ir::PermutedNode out = ir::UnpermutedNode(view);
  const int rank = static_cast<int>(perm.size());
  const int result = view.outputs[0]->shape.rank();
  out.inputs[operand].assign(perm.begin(), perm.end());
  TIM_ASSIGN_OR_RETURN(
      const GatherAxes axes,
      GatherAxesOf(view.node.attributes, view.inputs[0]->shape));
  TIM_RETURN_IF_ERROR(CheckStay(perm, rank - axes.batch, rank));
  ir::Permutation& moved = out.outputs[0];
  if (operand == 1) {
    moved = ir::IdentityPermutation(result);
    for (int j = 0; j < rank - axes.batch; ++j) {
      moved[axes.axis + j] = axes.axis + perm[j];
    }
    return out;
  }
  const int axis = ir::NewAxis(perm, axes.axis);
  const int own = result - (rank - 1);  // Axes of the indices in the output.
  const auto append = [&](int i) {
    moved.push_back(perm[i] < axes.axis ? perm[i] : perm[i] - 1 + own);
  };
  for (int i = 0; i < axis; ++i) append(i);
  for (int j = 0; j < own; ++j) moved.push_back(axes.axis + j);
  for (int i = axis + 1; i < rank; ++i) append(i);
  out.attributes.Set("axis", int64_t{axis});
  return out;
}

// ---- GatherNd ---------------------------------------------------------------

Status InferGatherNd(ir::InferContext& context) {
  InferTypeFrom(context, 0);
  const ir::Shape& data = context.shape(0);
  const ir::Shape& indices = context.shape(1);
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape();
  TIM_RETURN_IF_ERROR(CheckCoordinateLength(indices, data));
  const int64_t length = CoordinateLength(indices);
  if (length == ir::kUnknownDim || !data.ranked()) return OkStatus();
  Dims dims;
  Append(data, 0, data.rank() - static_cast<int>(length), &dims);
  const Dims coordinates = CoordinateDims(indices);
  dims.insert(dims.end(), coordinates.begin(), coordinates.end());
  output = ir::Shape(std::move(dims));
  return OkStatus();
}

Result<RowLookup> GatherNdRows(const ir::AttributeMap&, const ir::Shape& data,
                               const ir::Shape& indices) {
  const int first = data.rank() - static_cast<int>(CoordinateLength(indices));
  RowLookup lookup;
  lookup.run = data.Product(0, first);
  lookup.count = ir::Shape(CoordinateDims(indices)).NumElements().value_or(0);
  const std::vector<int64_t> strides = ir::DenseStrides(data);
  for (int axis = first; axis < data.rank(); ++axis) {
    lookup.coordinate.push_back({data[axis], strides[axis]});
  }
  return lookup;
}

// The input's axes that no index names may move, and those of the list of
// coordinates.
Result<ir::PermutedNode> PermuteGatherNd(const ir::NodeView& view, int operand,
                                         std::span<const int> perm) {
  const int rank = static_cast<int>(perm.size());
  const int64_t length = CoordinateLength(view.inputs[1]->shape);
  if (length == ir::kUnknownDim) {
    return Unimplemented("the length of the coordinates is unknown");
  }
  const int kept = view.inputs[0]->shape.rank() - static_cast<int>(length);
  ir::PermutedNode out = ir::UnpermutedNode(view);
  out.inputs[operand].assign(perm.begin(), perm.end());
  out.outputs[0] = ir::IdentityPermutation(view.outputs[0]->shape.rank());
  if (operand == 0) {
    TIM_RETURN_IF_ERROR(CheckStay(perm, kept, rank));
    std::copy_n(perm.begin(), kept, out.outputs[0].begin());
    return out;
  }
  TIM_RETURN_IF_ERROR(CheckStay(perm, 0, 1));
  for (int i = 1; i < rank; ++i)
    out.outputs[0][kept + i - 1] = kept + perm[i] - 1;
  return out;
}

// ---- EmbeddingLookup --------------------------------------------------------

Status InferEmbeddingLookup(ir::InferContext& context) {
  InferTypeFrom(context, 1);
  const ir::Shape& indices = context.shape(0);
  const ir::Shape& table = context.shape(1);
  ir::Shape& output = context.outputs[0].desc.shape;
  output = table;
  if (indices.ranked() && indices.rank() != 1) {
    return InvalidArgument("the indices ", indices.ToString(), " have rank ",
                           indices.rank(), ", expected 1");
  }
  if (!table.ranked()) return OkStatus();
  output.set_dim(table.rank() - 1,
                 indices.ranked() ? indices[0] : ir::kUnknownDim);
  return OkStatus();
}

Result<RowLookup> EmbeddingRows(const ir::AttributeMap&, const ir::Shape& table,
                                const ir::Shape& indices) {
  const int slowest = table.rank() - 1;
  RowLookup lookup;
  lookup.run = table.Product(0, slowest);
  lookup.count = indices[0];
  lookup.coordinate = {{table[slowest], lookup.run}};
  lookup.rule.negative = Negative::kOutside;
  return lookup;
}

// The axes of a row may move.
Result<ir::PermutedNode> PermuteEmbeddingLookup(const ir::NodeView& view,
                                                int operand,
                                                std::span<const int> perm) {
  const int rank = static_cast<int>(perm.size());
  TIM_RETURN_IF_ERROR(CheckStay(perm, rank - 1, rank));
  ir::PermutedNode out = ir::UnpermutedNode(view);
  out.inputs[operand].assign(perm.begin(), perm.end());
  out.outputs[0] = out.inputs[operand];
  return out;
}

// ---- what they share --------------------------------------------------------

struct RowOperator {
  const char* name = nullptr;
  int data = 0;
  int indices = 1;
  std::vector<ir::AttributeSpec> attributes = {};
  Status (*infer)(ir::InferContext&) = nullptr;
  Result<RowLookup> (*rows)(const ir::AttributeMap&, const ir::Shape& data,
                            const ir::Shape& indices) = nullptr;
  ir::PermuteRule permute_rule = nullptr;
  VjpRule vjp = nullptr;

  Result<RowLookup> RowsOf(const ir::AttributeMap& values,
                           const ir::Shape& data_shape,
                           const ir::Shape& indices_shape) const {
    TIM_ASSIGN_OR_RETURN(RowLookup lookup,
                         rows(values, data_shape, indices_shape));
    lookup.data = data;
    lookup.indices = indices;
    return lookup;
  }
};

std::vector<RowOperator> RowOperators() {
  return {{.name = "Gather",
           .attributes = {{.name = "axis"},
                          {.name = "batch_dims", .default_value = int64_t{0}}},
           .infer = InferGather,
           .rows = GatherRows,
           .permute_rule = PermuteGather,
           .vjp = GatherVjp},
          {.name = "GatherNd",
           .infer = InferGatherNd,
           .rows = GatherNdRows,
           .permute_rule = PermuteGatherNd},
          {.name = "EmbeddingLookup",
           .data = 1,
           .indices = 0,
           .infer = InferEmbeddingLookup,
           .rows = EmbeddingRows,
           .permute_rule = PermuteEmbeddingLookup,
           .vjp = EmbeddingLookupVjp}};
}

Status CheckRowOperator(const RowOperator& op, const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckIndices(view, op.indices));
  TIM_RETURN_IF_ERROR(CheckMoved(view, Operand::kInput, op.data));
  return CheckMoved(view, Operand::kOutput, 0);
}

Status EvalRowOperator(const RowOperator& op, const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(
      const RowLookup lookup,
      op.RowsOf(context.attributes(), context.inputs[op.data].desc->shape,
                context.inputs[op.indices].desc->shape));
  return EvalRows(lookup, context);
}

Result<RowLookup> Analyze(const RowOperator& op, const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(SupportsRows(node, op.data, op.indices));
  return op.RowsOf(node.attributes(), node.inputs[op.data].shape,
                   node.inputs[op.indices].shape);
}

Result<ir::Lowering> Lower(const RowLookup& lookup, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  ir::Lowering lowering;
  TIM_RETURN_IF_ERROR(AppendRows(node, lookup, device, &lowering));
  return lowering;
}

ir::OpSchema RowSchema(const RowOperator& op) {
  return {
      .name = op.name,
      .inputs = {2, 2},
      .attributes = op.attributes,
      .check =
          [op](const ir::NodeView& view) { return CheckRowOperator(op, view); },
      .doubts =
          [op](const ir::NodeView& view) {
            Doubts doubts;
            AddCodesDoubt(view, {op.data}, {0}, &doubts);
            return doubts;
          },
      .infer_shapes = op.infer,
      .eval =
          [op](const ir::EvalContext& context) {
            return EvalRowOperator(op, context);
          },
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .permute_rule = op.permute_rule,
      .vjp = op.vjp};
}

ir::KernelDef RowKernel(const RowOperator& op, const char* name) {
  return ir::TypedKernel<RowLookup>{
      .op = StrCat("tim.", op.name),
      .name = name,
      .analyze = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo&) { return Analyze(op, node); },
      .cost = CostAt(prices::kGather),
      .lower = Lower};
}

}  // namespace

TIM_OPERATOR(gather) {
  for (const RowOperator& op : RowOperators()) {
    registry.Add(RowSchema(op));
    registry.Add(RowKernel(op, LowerCase(op.name).c_str()));
  }
}

}  // namespace tim::ops
