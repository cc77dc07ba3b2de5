// Gradients of operators of two inputs that are broadcast, and of Select, AddN
// and conversions.
#include <vector>

#include "ir/zero_vjp.h"
#include "ops/gradients/pointwise_rules.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;

Result<Values> AddVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  b.SetBroadcast(0, g);
  b.SetBroadcast(1, g);
  return b.Finish();
}

Result<Values> SubVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  b.SetBroadcast(0, g);
  if (b.Wanted(1)) b.SetBroadcast(1, b.Neg(g));
  return b.Finish();
}

// "Multiply" or "Div" with the scale of the node.
Value WithScale(VjpBuilder& b, const char* op, Value x, Value z) {
  return b.Op(op, {x, z}, {{"scale", *b.attributes().Find("scale")}});
}

Result<Values> MultiplyVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  for (const int i : {0, 1}) {
    if (!b.Wanted(i)) continue;
    b.SetBroadcast(i, WithScale(b, "Multiply", g, b.In(1 - i)));
  }
  return b.Finish();
}

// y = scale * a / z, so that dy / dz = -y / z.
Result<Values> DivVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  const Value z = b.In(1);
  if (b.Wanted(0)) b.SetBroadcast(0, WithScale(b, "Div", g, z));
  if (b.Wanted(1)) {
    b.SetBroadcast(1, b.Neg(b.Div(b.Multiply(g, b.Out()), z)));
  }
  return b.Finish();
}

// Of equal operands each gets half.
Result<Values> ExtremeVjp(const ir::VjpContext& context, const char* wins,
                          const char* wins_or_ties) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  const auto count = [&](const char* op) {
    return b.Cast(b.Op(op, {b.In(0), b.In(1)}), b.TypeOf(g));
  };
  const Value share = b.Scale(b.Add(count(wins), count(wins_or_ties)), 0.5);
  const Value first = b.Multiply(g, share);
  b.SetBroadcast(0, first);
  if (b.Wanted(1)) b.SetBroadcast(1, b.Sub(g, first));
  return b.Finish();
}
Result<Values> MaximumVjp(const ir::VjpContext& context) {
  return ExtremeVjp(context, "Greater", "GreaterOrEqual");
}
Result<Values> MinimumVjp(const ir::VjpContext& context) {
  return ExtremeVjp(context, "Less", "LessOrEqual");
}

// y = a^z: dy / da = z * a^(z - 1); dy / dz = y * ln(a) for a > 0, else 0.
Result<Values> PowVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  const Value a = b.In(0);
  const Value z = b.In(1);
  if (b.Wanted(0)) {
    const Value power = b.Op("Pow", {a, b.Linear(z, 1, -1)});
    b.SetBroadcast(0, b.Multiply(b.Multiply(g, z), power));
  }
  if (b.Wanted(1)) {
    const Value positive = b.Greater(a, 0);
    // A logarithm that is defined everywhere, so that no NaN is multiplied.
    const Value safe = b.Select(positive, a, b.Number(1, b.TypeOf(a)));
    const Value slope = b.Multiply(b.Out(), b.Op("Log", {safe}));
    b.SetBroadcast(1, b.Where(positive, b.Multiply(g, slope)));
  }
  return b.Finish();
}

struct Row {
  std::string_view op;
  VjpRule rule;
};

constexpr Row kRows[] = {
    {"Add", AddVjp},           {"Sub", SubVjp},
    {"Multiply", MultiplyVjp}, {"Div", DivVjp},
    {"Maximum", MaximumVjp},   {"Minimum", MinimumVjp},
    {"FloorDiv", ir::ZeroVjp}, {"Pow", PowVjp},
};

}  // namespace

VjpRule BinaryVjp(std::string_view op) {
  for (const Row& row : kRows) {
    if (row.op == op) return row.rule;
  }
  return nullptr;
}

Result<Values> AddNVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  for (int i = 0; i < b.inputs(); ++i) {
    if (b.HasIn(i)) b.SetBroadcast(i, g);
  }
  return b.Finish();
}

Result<Values> SelectVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  const Value zero = b.Number(0, b.TypeOf(g));
  if (b.Wanted(1)) b.SetBroadcast(1, b.Select(b.In(0), g, zero));
  if (b.Wanted(2)) b.SetBroadcast(2, b.Select(b.In(0), zero, g));
  return b.Finish();
}

Result<Values> ConvertVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  b.Set(0, b.Cotangent());
  return b.Finish();
}

}  // namespace tim::ops
