// Gradients of operators that move elements: the cotangents move back, and what
// was read several times gets the sum.
#include "ops/movement/movement_rules.h"

#include <algorithm>
#include <cstdlib>

#include "ops/elements/shapes.h"
#include "ops/movement/strided_slice.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;
using Axes = VjpBuilder::Axes;

// The attribute "axis" of a tensor of `rank`.
int AxisOf(VjpBuilder& b, int rank) {
  return b.Try(WrapAxis(b.attributes().Int("axis"), rank));
}

// The cotangents of all outputs.
Values Cotangents(VjpBuilder& b) {
  Values out;
  for (int i = 0; i < b.outputs(); ++i) out.push_back(b.Cotangent(i));
  return out;
}

// Slices of x, an element each `step` from `begin` on, in zeros of `extents`.
Value InZeros(VjpBuilder& b, Value x, Axes begin, const Axes& step,
              const Axes& extents) {
  if (!b.ok()) return ir::kNone;
  const Axes counts = b.ShapeOf(x).dims();
  Axes backwards;
  Axes strides;
  for (size_t i = 0; i < step.size(); ++i) {
    strides.push_back(std::abs(step[i]));
    if (step[i] > 0) continue;
    backwards.push_back(static_cast<int64_t>(i));
    begin[i] -= (counts[i] - 1) * strides[i];
  }
  if (!backwards.empty()) x = b.Op("Reverse", {x}, {{"axis", backwards}});
  x = b.Spread(x, strides);
  Axes back;
  for (size_t i = 0; i < step.size(); ++i) {
    back.push_back(extents[i] - begin[i] - counts[i] * strides[i]);
  }
  return b.Pad(x, begin, back);
}

}  // namespace

Result<Values> ReshapeVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  b.Set(0, b.Cotangent());
  return b.Finish();
}

Result<Values> TransposeVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Axes& perm = b.attributes().Ints("perm");
  Axes back(perm.size(), 0);
  for (size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  b.Set(0, b.Transpose(b.Cotangent(), back));
  return b.Finish();
}

Result<Values> ReverseVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  b.Set(0, b.Op("Reverse", {b.Cotangent()},
                {{"axis", *b.attributes().Find("axis")}}));
  return b.Finish();
}

Result<Values> ConcatVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  const int rank = b.ShapeOf(g).rank();
  const int axis = AxisOf(b, rank);
  int64_t start = 0;
  for (int i = 0; b.ok() && i < b.inputs(); ++i) {
    if (!b.HasIn(i)) continue;
    const ir::Shape shape = b.ShapeOf(b.In(i));
    Axes first(rank, 0);
    first[axis] = start;
    start += shape[axis];
    if (b.Wanted(i)) b.Set(i, b.Slice(g, first, shape.dims()));
  }
  return b.Finish();
}

Result<Values> SplitVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  b.Set(0, b.Op("Concat", Cotangents(b),
                {{"axis", *b.attributes().Find("axis")},
                 {"input_cnt", int64_t{b.outputs()}}}));
  return b.Finish();
}

Result<Values> StackVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Values parts = b.OpOfMany("Unstack", {b.Cotangent()},
                                  {{"axis", *b.attributes().Find("axis")},
                                   {"output_num", int64_t{b.inputs()}}},
                                  b.inputs());
  for (int i = 0; i < b.inputs(); ++i) b.Set(i, parts[i]);
  return b.Finish();
}

Result<Values> UnstackVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  b.Set(0, b.Op("Stack", Cotangents(b),
                {{"axis", *b.attributes().Find("axis")},
                 {"input_cnt", int64_t{b.outputs()}}}));
  return b.Finish();
}

Result<Values> PadVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  if (b.attributes().Int("pad_mode") != 0) {
    return Unimplemented("only pad_mode constant has a gradient rule");
  }
  b.Set(0, b.Slice(b.Cotangent(), b.attributes().Ints("front_size"),
                   b.ShapeOf(b.In(0)).dims()));
  return b.Finish();
}

Result<Values> SliceVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Axes extents = b.ShapeOf(b.In(0)).dims();
  Axes begin = b.attributes().Ints("start");
  Axes step = b.attributes().Ints("step");
  begin.resize(extents.size(), 0);
  step.resize(extents.size(), 1);
  for (size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0) begin[i] += extents[i];
  }
  b.Set(0, InZeros(b, b.Cotangent(), begin, step, extents));
  return b.Finish();
}

Result<Values> StridedSliceVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const ir::Shape input = b.ShapeOf(b.In(0));
  const ir::Shape output = b.ShapeOf(b.Out());
  TIM_ASSIGN_OR_RETURN(const std::vector<SlicedRange> ranges,
                       SlicedRangesOf(b.attributes(), input, output));
  Axes begin;
  Axes step;
  Axes counts;
  for (const SlicedRange& range : ranges) {
    begin.push_back(range.begin);
    step.push_back(range.stride);
    counts.push_back(range.count);
  }
  const Value g = b.Reshape(b.Cotangent(), ir::Shape(counts));
  b.Set(0, InZeros(b, g, begin, step, input.dims()));
  return b.Finish();
}

Result<Values> BroadcastVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Axes& dimensions = b.attributes().Ints("dimensions");
  const ir::Shape input = b.ShapeOf(b.In(0));
  const Value g = b.Cotangent();
  const int rank = b.ShapeOf(g).rank();
  if (dimensions.empty()) {
    b.SetBroadcast(0, g);
    return b.Finish();
  }
  // The input's axes where they are in the output, which need not be in order.
  ir::Shape placed(Axes(rank, 1));
  std::vector<std::pair<int, int64_t>> places;
  for (int axis = 0; axis < input.rank(); ++axis) {
    const int place = b.Try(WrapAxis(dimensions[axis], rank));
    placed.set_dim(place, input[axis]);
    places.emplace_back(place, axis);
  }
  std::sort(places.begin(), places.end());
  Axes extents;
  Axes perm(places.size(), 0);
  for (size_t i = 0; i < places.size(); ++i) {
    extents.push_back(input[static_cast<int>(places[i].second)]);
    perm[static_cast<size_t>(places[i].second)] = static_cast<int64_t>(i);
  }
  const Value sum = b.Reshape(b.SumTo(g, placed), ir::Shape(extents));
  b.Set(0, b.Transpose(sum, perm));
  return b.Finish();
}

Result<Values> TileVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const ir::Shape input = b.ShapeOf(b.In(0));
  Value sum = b.Cotangent();
  Axes dims = b.ShapeOf(sum).dims();
  for (int axis = 0; axis < input.rank(); ++axis) {
    if (dims[axis] == input[axis]) continue;
    const ir::Shape shape(dims);
    const int64_t times = dims[axis] / input[axis];
    const int64_t before = shape.Product(0, axis) * input[axis];
    const int64_t behind = shape.Product(axis + 1, shape.rank());
    sum = b.Sum(b.Reshape(sum, ir::Shape({before, times, behind})), {1});
    dims[axis] = input[axis];
  }
  b.Set(0, sum);
  return b.Finish();
}

}  // namespace tim::ops
