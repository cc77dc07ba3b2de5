// Gradients of reductions: the cotangent goes to all elements that were joined.

#include "ops/reduction/reduction_rules.h"

#include "ops/reduction/reduce_axes.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;
using Axes = VjpBuilder::Axes;

// What the node reduces.
struct Reduced {
  Axes axes;
  ir::Shape kept;     // With extents of 1.
  int64_t count = 1;  // Elements that become one.
};

Reduced ReducedOf(VjpBuilder& b) {
  const ir::Shape shape = b.ShapeOf(b.In(0));
  const std::vector<bool> reduced =
      b.Try(ReducedAxes(b.attributes().Ints("axis"), shape.rank()));
  Reduced out;
  if (!b.ok()) return out;
  out.kept = ReducedShape(shape, reduced, true);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!reduced[axis]) continue;
    out.axes.push_back(axis);
    out.count *= shape[axis];
  }
  return out;
}

}  // namespace

Result<Values> ReduceSumVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Reduced reduced = ReducedOf(b);
  const Value g = b.Reshape(b.Cotangent(), reduced.kept);
  b.Set(0, b.Broadcast(g, b.ShapeOf(b.In(0))));
  return b.Finish();
}

Result<Values> ReduceMeanVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Reduced reduced = ReducedOf(b);
  const Value g = b.Scale(b.Reshape(b.Cotangent(), reduced.kept),
                          1.0 / static_cast<double>(reduced.count));
  b.Set(0, b.Broadcast(g, b.ShapeOf(b.In(0))));
  return b.Finish();
}

Result<Values> ReduceExtremeVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Reduced reduced = ReducedOf(b);
  const Value x = b.In(0);
  const Value y = b.Reshape(b.Out(), reduced.kept);
  const Value g = b.Reshape(b.Cotangent(), reduced.kept);
  const Value hit = b.Cast(b.Op("Equal", {x, y}), b.TypeOf(g));
  const Value share = b.Div(g, b.Sum(hit, reduced.axes));
  b.Set(0, b.Multiply(hit, share));
  return b.Finish();
}

}  // namespace tim::ops
