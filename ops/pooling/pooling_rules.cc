// Gradients of Pool2d: averages go to all cells of their windows, a maximum to
// its cell.
#include "ops/pooling/pooling_rules.h"

#include <algorithm>

#include "ops/gradients/gradient_windows.h"
#include "ops/pooling/pool2d_node.h"
#include "ops/pooling/pooling.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;
using Axes = VjpBuilder::Axes;

// Cells by which window `index` along an axis divides.
int64_t DivisorOf(PoolType type, const PoolAxis& axis, int64_t index) {
  if (type == PoolType::kAverage) return axis.kernel;
  if (type == PoolType::kAveragePadded) return PaddedCellsOf(axis, index);
  const PoolCells cells = CellsOf(axis, index);
  return cells.last - cells.first;
}

// The reciprocal of the cells of each window, 0 where there are none.
Value Shares(VjpBuilder& b, PoolType type, const PoolShape& shape,
             ir::DataType element) {
  std::vector<float> shares;
  for (int64_t y = 0; y < shape.h.output; ++y) {
    for (int64_t x = 0; x < shape.w.output; ++x) {
      const int64_t cells =
          DivisorOf(type, shape.w, x) * DivisorOf(type, shape.h, y);
      shares.push_back(cells > 0 ? 1.0f / static_cast<float>(cells) : 0.0f);
    }
  }
  return b.Constant(shares, ir::Shape({shape.w.output, shape.h.output, 1, 1}),
                    element);
}

GradientWindow WindowOf(const PoolAxis& axis) {
  return {.image = axis.input,
          .kernel = axis.kernel,
          .count = axis.output,
          .stride = axis.stride,
          .front = axis.pad};
}

Value OfAverage(VjpBuilder& b, PoolType type, const PoolShape& shape) {
  const Value g =
      b.Reshape(b.Cotangent(),
                ir::Shape({shape.w.output, shape.h.output, 1, shape.planes}));
  const Value shares = b.Multiply(g, Shares(b, type, shape, b.TypeOf(g)));
  const Value ones = b.Filled(
      1, ir::Shape({shape.w.kernel, shape.h.kernel, 1, 1}), b.TypeOf(g));
  return SpreadWindows(b, shares, ones, {WindowOf(shape.w), WindowOf(shape.h)},
                       1);
}

// Pads with which windows that round down make the output.
void AddPads(const PoolAxis& axis, Axes* pad) {
  const int64_t back =
      (axis.output - 1) * axis.stride + axis.kernel - axis.input - axis.pad;
  pad->push_back(axis.pad);
  pad->push_back(std::max<int64_t>(back, 0));
}

Value OfMaximum(VjpBuilder& b, const PoolShape& shape) {
  Axes pad;
  AddPads(shape.w, &pad);
  AddPads(shape.h, &pad);
  constexpr int64_t kFloor = 1;
  return b.Op("MaxpoolGrad", {b.In(0), b.Cotangent()},
              {{"ksize", Axes{shape.w.kernel, shape.h.kernel}},
               {"stride", Axes{shape.w.stride, shape.h.stride}},
               {"pad", pad},
               {"round_type", kFloor}});
}

}  // namespace

Result<Values> Pool2dVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const PoolType type = PoolTypeOf(b.attributes());
  TIM_ASSIGN_OR_RETURN(
      const PoolShape shape,
      PoolShapeOf(b.attributes(), b.ShapeOf(b.In(0)), b.ShapeOf(b.Out())));
  if (type == PoolType::kL2) {
    return Unimplemented("pool type L2 has no gradient rule");
  }
  b.Set(0, type == PoolType::kMax ? OfMaximum(b, shape)
                                  : OfAverage(b, type, shape));
  return b.Finish();
}

}  // namespace tim::ops
