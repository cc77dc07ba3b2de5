#include "ops/gemm/matmul_shape.h"

#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

// Dims 2 and up.
ir::Shape BatchDims(const ir::Shape& shape) {
  if (shape.rank() <= 2) return ir::Shape(std::vector<int64_t>());
  return ir::Shape(
      std::vector<int64_t>(shape.dims().begin() + 2, shape.dims().end()));
}

// First element of every batch of a tensor whose dims from 2 on broadcast to
// `batches`.
std::vector<int64_t> FirstElements(const ir::Shape& shape,
                                   const ir::Shape& batches) {
  std::vector<int64_t> out = {0};
  int64_t stride = shape.DimOr1(0) * shape.DimOr1(1);
  for (int axis = 0; axis < batches.rank(); ++axis) {
    const int64_t extent = shape.DimOr1(axis + 2);
    const size_t inner = out.size();
    for (int64_t i = 1; i < batches[axis]; ++i) {
      for (size_t j = 0; j < inner; ++j) {
        out.push_back(out[j] + (extent == 1 ? 0 : i * stride));
      }
    }
    if (batches[axis] == 0) out.clear();
    stride *= extent;
  }
  return out;
}

Status CheckFlags(const char* operand, const ir::Shape& shape,
                  bool transposed) {
  if (shape.rank() == 0) {
    return InvalidArgument(operand, " is a scalar, expected rank >= 1");
  }
  if (shape.rank() == 1 && transposed) {
    return InvalidArgument(operand, " ", shape.ToString(),
                           " has rank 1 and cannot be transposed");
  }
  return OkStatus();
}

bool Differ(int64_t a, int64_t b) {
  return a != b && a != ir::kUnknownDim && b != ir::kUnknownDim;
}

}  // namespace

MatmulShape MatmulShapeOf(const ir::AttributeMap& attributes,
                          const ir::Shape& a, const ir::Shape& b) {
  MatmulShape out;
  const bool transpose_a = attributes.Bool("transpose_a");
  const bool transpose_b = attributes.Bool("transpose_b");
  out.depth = a[transpose_a ? 1 : 0];
  out.rows = a.DimOr1(transpose_a ? 0 : 1);
  out.a_row = transpose_a ? 1 : a[0];
  out.a_k = transpose_a ? a[0] : 1;
  if (b.rank() > 1) {
    out.columns = b[transpose_b ? 1 : 0];
    out.b_column = transpose_b ? b[0] : 1;
    out.b_k = transpose_b ? 1 : b[0];
  } else {
    out.b_k = 1;
  }
  const Result<ir::Shape> batches = BroadcastShapes(BatchDims(a), BatchDims(b));
  if (!batches.ok()) return out;
  const std::vector<int64_t> first_a = FirstElements(a, *batches);
  const std::vector<int64_t> first_b = FirstElements(b, *batches);
  for (size_t i = 0; i < first_a.size(); ++i) {
    out.batches.push_back({first_a[i], first_b[i]});
  }
  return out;
}

Result<ir::Shape> InferMatmulShape(const ir::AttributeMap& attributes,
                                   const ir::Shape& a, const ir::Shape& b) {
  const bool transpose_a = attributes.Bool("transpose_a");
  const bool transpose_b = attributes.Bool("transpose_b");
  if (a.ranked()) TIM_RETURN_IF_ERROR(CheckFlags("A", a, transpose_a));
  if (b.ranked()) TIM_RETURN_IF_ERROR(CheckFlags("B", b, transpose_b));
  if (!a.ranked() || !b.ranked()) return ir::Shape();
  const int64_t depth_a = a[transpose_a ? 1 : 0];
  const int64_t depth_b = b.rank() == 1 ? b[0] : b[transpose_b ? 0 : 1];
  if (Differ(depth_a, depth_b)) {
    return InvalidArgument("A ", a.ToString(), transpose_a ? " transposed" : "",
                           " gives ", depth_a, " values for each product, B ",
                           b.ToString(), transpose_b ? " transposed" : "",
                           " takes ", depth_b);
  }
  const Result<ir::Shape> batches = BroadcastShapes(BatchDims(a), BatchDims(b));
  if (!batches.ok()) {
    return batches.status().WithContext("batch dimensions (axis 2 and up)");
  }
  std::vector<int64_t> dims;
  if (b.rank() > 1) dims.push_back(b[transpose_b ? 1 : 0]);
  if (a.rank() > 1) dims.push_back(a[transpose_a ? 0 : 1]);
  dims.insert(dims.end(), batches->dims().begin(), batches->dims().end());
  return ir::Shape(std::move(dims));
}

ir::ComputeEstimate EstimateMatmul(const ir::NodeView& view) {
  const MatmulShape shape = MatmulShapeOf(
      view.node.attributes, view.inputs[0]->shape, view.inputs[1]->shape);
  return SumEstimate(view, static_cast<double>(shape.depth));
}

}  // namespace tim::ops
