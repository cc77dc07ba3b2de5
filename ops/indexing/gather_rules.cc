// Gradients of operators that look rows up: each row gets the sum of what was
// read of it.
#include "ops/indexing/gather_rules.h"

#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;

// Rows [inner, count, outer] of g added to those of [inner, extent, outer] that
// indices name.
Value Scattered(VjpBuilder& b, Value g, Value indices, const ir::Shape& data,
                int axis) {
  if (!b.ok()) return ir::kNone;
  const int64_t inner = data.Product(0, axis);
  const int64_t outer = data.Product(axis + 1, data.rank());
  const int64_t count = b.ShapeOf(indices).NumElements().value_or(0);
  const Value rows =
      b.Transpose(b.Reshape(g, ir::Shape({inner, count, outer})), {0, 2, 1});
  const ir::Shape target({inner, outer, data[axis]});
  // Indices count from the end, too, and those outside mean the nearest one.
  const int64_t extent = data[axis];
  const Value inside = b.Op("Clip", {indices},
                            {{"min", static_cast<double>(-extent)},
                             {"max", static_cast<double>(extent - 1)}});
  const Value list = b.Reshape(inside, ir::Shape({1, count}));
  const Value sums =
      b.Op("ScatterND_ONNX_V16", {b.Filled(0, target, b.TypeOf(g)), list, rows},
           {{"reduction", int64_t{1}}});
  return b.Transpose(sums, {0, 2, 1});
}

}  // namespace

Result<Values> GatherVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  if (b.attributes().Int("batch_dims") != 0) {
    return Unimplemented("only batch_dims 0 has a gradient rule");
  }
  const ir::Shape data = b.ShapeOf(b.In(0));
  const int axis = b.Try(WrapAxis(b.attributes().Int("axis"), data.rank()));
  b.Set(0, Scattered(b, b.Cotangent(), b.In(1), data, axis));
  return b.Finish();
}

Result<Values> EmbeddingLookupVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const ir::Shape table = b.ShapeOf(b.In(1));
  const ir::Shape rows(
      {table.Product(0, table.rank() - 1), table[table.rank() - 1]});
  // Indices outside mean the nearest one.
  const Value inside =
      b.Op("Clip", {b.In(0)},
           {{"min", 0.0}, {"max", static_cast<double>(rows[1] - 1)}});
  const Value g =
      b.Reshape(b.Cotangent(), ir::Shape({rows[0], b.ShapeOf(b.In(0))[0]}));
  b.Set(1, b.Op("ScatterND", {inside, g}, {{"shape", rows.dims()}}));
  return b.Finish();
}

}  // namespace tim::ops
