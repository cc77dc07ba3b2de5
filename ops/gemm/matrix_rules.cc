// Gradients of Matmul and FullyConnected, by products of matrices.
#include "ops/gemm/matrix_rules.h"

#include "ops/gemm/fullyconnected_shape.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;
using Axes = VjpBuilder::Axes;

Value Product(VjpBuilder& b, Value x, Value z, bool transpose_x,
              bool transpose_z) {
  return b.Op("Matmul", {x, z},
              {{"transpose_a", transpose_x}, {"transpose_b", transpose_z}});
}

// The batch of the product: its axes behind the matrix.
Axes BatchOf(const ir::Shape& a, const ir::Shape& z) {
  Axes out;
  for (int axis = 2; axis < a.rank() || axis < z.rank(); ++axis) {
    out.push_back(a.DimOr1(axis) != 1 ? a.DimOr1(axis) : z.DimOr1(axis));
  }
  return out;
}

}  // namespace

// Each factor is g times the other one, on the side and with the transposition
// that the flags leave.
Result<Values> MatmulVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const bool ta = b.attributes().Bool("transpose_a");
  const bool tb = b.attributes().Bool("transpose_b");
  // A vector is a row on the left and a column on the right.
  ir::Shape left = b.ShapeOf(b.In(0));
  ir::Shape right = b.ShapeOf(b.In(1));
  if (left.rank() == 1) left = ir::Shape({left[0], 1});
  if (right.rank() == 1) right = ir::Shape({1, right[0]});
  Axes whole = {right[tb ? 1 : 0], left[ta ? 0 : 1]};
  for (const int64_t extent : BatchOf(left, right)) whole.push_back(extent);
  const Value a = b.Reshape(b.In(0), left);
  const Value z = b.Reshape(b.In(1), right);
  const Value g = b.Reshape(b.Cotangent(), ir::Shape(whole));
  if (b.Wanted(0)) {
    const Value made =
        ta ? Product(b, z, g, tb, true) : Product(b, g, z, false, !tb);
    b.Set(0, b.SumTo(made, left));
  }
  if (b.Wanted(1)) {
    const Value made =
        tb ? Product(b, g, a, true, ta) : Product(b, a, g, !ta, false);
    b.Set(1, b.SumTo(made, right));
  }
  return b.Finish();
}

Result<Values> FullyConnectedVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const FullyConnectedShape shape = FullyConnectedShapeOf(
      b.attributes(), b.ShapeOf(b.In(0)), b.ShapeOf(b.In(1)));
  const Value g =
      b.Reshape(b.Cotangent(), ir::Shape({shape.outputs, shape.rows}));
  if (b.Wanted(0)) {
    const Value weights =
        b.Reshape(b.In(1), ir::Shape({shape.depth, shape.outputs}));
    b.Set(0, Product(b, g, weights, false, false));
  }
  if (b.Wanted(1)) {
    const Value x = b.Reshape(b.In(0), ir::Shape({shape.depth, shape.rows}));
    b.Set(1, Product(b, g, x, true, false));
  }
  if (b.HasIn(2)) b.Set(2, b.Wanted(2) ? b.SumAway(g, {1}) : ir::kNone);
  return b.Finish();
}

}  // namespace tim::ops
