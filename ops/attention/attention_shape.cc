// Extents of attention and where its heads begin.
#include "ops/attention/attention_shape.h"

#include <algorithm>

#include "ops/elements/shapes.h"
#include "ops/gemm/matmul_shape.h"

namespace tim::ops {
namespace {

// Attributes of the Matmul whose x is rows of queries times keys.
ir::AttributeMap ScoreProduct(const ir::AttributeMap& attributes) {
  return {{"transpose_a", false},
          {"transpose_b", !attributes.Bool(kKeysByDepth)}};
}

ir::AttributeMap PlainProduct() {
  return {{"transpose_a", false}, {"transpose_b", false}};
}

Status CheckMatrix(const char* operand, const ir::Shape& shape) {
  if (!shape.ranked() || shape.rank() >= 2) return OkStatus();
  return InvalidArgument(operand, " ", shape.ToString(), " has rank ",
                         shape.rank(), ", expected at least 2");
}

// The mask must not make more scores than there are.
Status CheckMask(const ir::Shape& scores, const ir::Shape& mask) {
  const auto both = BroadcastShapes(scores, mask);
  if (!both.ok()) return both.status().WithContext("scores and the mask");
  if (!both->ranked()) return OkStatus();
  for (int axis = 0; axis < both->rank(); ++axis) {
    const int64_t extent = scores.DimOr1(axis);
    const bool known =
        extent != ir::kUnknownDim && (*both)[axis] != ir::kUnknownDim;
    if (axis >= scores.rank() || (known && extent != (*both)[axis])) {
      return InvalidArgument("the mask ", mask.ToString(),
                             " is larger than the scores ", scores.ToString());
    }
  }
  return OkStatus();
}

}  // namespace

AttentionShape AttentionShapeOf(const ir::AttributeMap& attributes,
                                const ir::Shape& queries, const ir::Shape& keys,
                                const ir::Shape& values,
                                const ir::Shape* mask) {
  const ir::AttributeMap scores_of = ScoreProduct(attributes);
  const MatmulShape product = MatmulShapeOf(scores_of, queries, keys);
  AttentionShape out = {.queries = product.rows,
                        .keys = product.columns,
                        .depth = product.depth,
                        .columns = values[0],
                        .key_step = product.b_column,
                        .key_depth_step = product.b_k,
                        .heads = {}};
  const auto scores = InferMatmulShape(scores_of, queries, keys);
  if (!scores.ok()) return out;
  // Heads of the output, by those of the scores and values.
  const MatmulShape sums = MatmulShapeOf(PlainProduct(), *scores, values);
  std::vector<int64_t> mask_firsts(product.batches.size(), 0);
  if (mask != nullptr) {
    out.mask_key_step = mask->DimOr1(0) > 1 ? 1 : 0;
    out.mask_query_step = mask->DimOr1(1) > 1 ? mask->DimOr1(0) : 0;
    const MatmulShape added = MatmulShapeOf(PlainProduct(), *scores, *mask);
    for (size_t i = 0; i < mask_firsts.size(); ++i) {
      mask_firsts[i] = added.batches[i].b;
    }
  }
  // Heads of no scores read nothing.
  const int64_t head_scores =
      std::max<int64_t>(product.rows * product.columns, 1);
  for (const MatmulShape::Batch& batch : sums.batches) {
    const auto head = static_cast<size_t>(batch.a / head_scores);
    out.heads.push_back({.queries = product.batches[head].a,
                         .keys = product.batches[head].b,
                         .values = batch.b,
                         .mask = mask_firsts[head]});
  }
  return out;
}

AttentionShape AttentionShapeOf(const ir::KernelNode& node) {
  return AttentionShapeOf(
      node.attributes(), node.inputs[kQueries].shape, node.inputs[kKeys].shape,
      node.inputs[kValues].shape,
      node.has_input(kMask) ? &node.inputs[kMask].shape : nullptr);
}

Result<ir::Shape> InferAttentionShape(const ir::AttributeMap& attributes,
                                      const ir::Shape& queries,
                                      const ir::Shape& keys,
                                      const ir::Shape& values,
                                      const ir::Shape* mask) {
  TIM_RETURN_IF_ERROR(CheckMatrix("input 0 (queries)", queries));
  TIM_RETURN_IF_ERROR(CheckMatrix("input 1 (keys)", keys));
  TIM_RETURN_IF_ERROR(CheckMatrix("input 2 (values)", values));
  const auto scores = InferMatmulShape(ScoreProduct(attributes), queries, keys);
  if (!scores.ok()) {
    return scores.status().WithContext("queries as A and keys as B");
  }
  if (mask != nullptr && scores->ranked() && mask->ranked()) {
    TIM_RETURN_IF_ERROR(CheckMask(*scores, *mask));
  }
  auto out = InferMatmulShape(PlainProduct(), *scores, values);
  if (!out.ok()) return out.status().WithContext("scores as A and values as B");
  return out;
}

// The softmax of a score takes about 30 operations.
ir::ComputeEstimate EstimateAttention(const ir::NodeView& view) {
  const bool has_mask =
      view.inputs.size() > kMask && view.inputs[kMask] != nullptr;
  const AttentionShape shape =
      AttentionShapeOf(view.node.attributes, view.inputs[kQueries]->shape,
                       view.inputs[kKeys]->shape, view.inputs[kValues]->shape,
                       has_mask ? &view.inputs[kMask]->shape : nullptr);
  const double scores = static_cast<double>(shape.queries) * shape.keys *
                        static_cast<double>(shape.heads.size());
  return {.flops = scores * (2.0 * shape.depth + 2.0 * shape.columns + 30),
          .bytes_read = InputBytes(view),
          .bytes_written = OutputBytes(view)};
}

}  // namespace tim::ops
