// Gradients of operators of one input: the cotangent times the derivative, by
// the input x or the output y.
#include <numbers>

#include "ir/zero_vjp.h"
#include "ops/gradients/pointwise_rules.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;

// The cotangent of x for a node of input x, output y and cotangent g.
struct Unary {
  VjpBuilder& b;
  Value x;
  Value y;
  Value g;
  float Attribute(const char* name) const { return b.attributes().Float(name); }
};

template <Value (*formula)(const Unary&)>
Result<std::vector<Value>> Rule(const ir::VjpContext& context) {
  VjpBuilder b(context);
  if (b.Wanted(0)) {
    const Value g = b.Cotangent();
    b.Set(0, formula({.b = b, .x = b.In(0), .y = b.Out(), .g = g}));
  }
  return b.Finish();
}

// g where low < x < high.
Value Between(const Unary& u, double low, double high) {
  return u.b.Where(u.b.Greater(u.x, low), u.b.Where(u.b.Less(u.x, high), u.g));
}

// ---- Lines ----

Value Relu(const Unary& u) { return u.b.Where(u.b.Greater(u.x, 0), u.g); }
Value Relu1(const Unary& u) { return Between(u, -1, 1); }
Value Relu6(const Unary& u) { return Between(u, 0, 6); }
Value Clip(const Unary& u) {
  return Between(u, u.Attribute("min"), u.Attribute("max"));
}
Value LeakyRelu(const Unary& u) {
  return u.b.Select(u.b.Greater(u.x, 0), u.g,
                    u.b.Scale(u.g, u.Attribute("alpha")));
}
Value Linear(const Unary& u) { return u.b.Scale(u.g, u.Attribute("a")); }
Value Dropout(const Unary& u) { return u.b.Scale(u.g, u.Attribute("ratio")); }
Value HardSigmoid(const Unary& u) {
  const float slope = u.Attribute("alpha");
  const Value line = u.b.Linear(u.x, slope, u.Attribute("beta"));
  return u.b.Where(u.b.Greater(line, 0),
                   u.b.Where(u.b.Less(line, 1), u.b.Scale(u.g, slope)));
}
Value HardSwish(const Unary& u) {
  const Value inner = u.b.Multiply(u.g, u.b.Linear(u.x, 1.0 / 3.0, 0.5));
  return u.b.Where(u.b.Greater(u.x, -3),
                   u.b.Select(u.b.Less(u.x, 3), inner, u.g));
}

// ---- Functions of e^x ----

// 1 - y^2
Value Tanh(const Unary& u) {
  return u.b.Multiply(u.g, u.b.Linear(u.b.Square(u.y), -1, 1));
}

// s * (1 - s)
Value SlopeOfSigmoid(VjpBuilder& b, Value s) {
  return b.Multiply(s, b.Linear(s, -1, 1));
}
Value Sigmoid(const Unary& u) {
  return u.b.Multiply(u.g, SlopeOfSigmoid(u.b, u.y));
}

Value Swish(const Unary& u) {
  const Value s = u.b.Op("Sigmoid", {u.x});
  const Value slope = u.b.Multiply(u.x, SlopeOfSigmoid(u.b, s));
  return u.b.Multiply(u.g, u.b.Add(s, slope));
}

// y = x * tanh(softplus(x))
Value Mish(const Unary& u) {
  const Value t = u.b.Op("Tanh", {u.b.Op("SoftRelu", {u.x})});
  const Value s = u.b.Op("Sigmoid", {u.x});
  const Value slope =
      u.b.Multiply(u.b.Multiply(u.x, s), u.b.Linear(u.b.Square(t), -1, 1));
  return u.b.Multiply(u.g, u.b.Add(t, slope));
}

Value SoftRelu(const Unary& u) {
  return u.b.Multiply(u.g, u.b.Op("Sigmoid", {u.x}));
}

// y = a * (e^x - 1) below 0, so that its slope is y + a.
Value Exponential(const Unary& u, double a, double slope_above) {
  const Value below = u.b.Multiply(u.g, u.b.Linear(u.y, 1, a));
  return u.b.Select(u.b.GreaterOrEqual(u.x, 0), u.b.Scale(u.g, slope_above),
                    below);
}
Value Elu(const Unary& u) { return Exponential(u, u.Attribute("alpha"), 1); }
Value Selu(const Unary& u) {
  const double gamma = u.Attribute("gamma");
  return Exponential(u, gamma * u.Attribute("alpha"), gamma);
}
// y = a * (e^(x / a) - 1) below 0.
Value Celu(const Unary& u) {
  const Value below =
      u.b.Multiply(u.g, u.b.Linear(u.y, 1.0 / u.Attribute("alpha"), 1));
  return u.b.Select(u.b.GreaterOrEqual(u.x, 0), u.g, below);
}

Value Exp(const Unary& u) { return u.b.Multiply(u.g, u.y); }
Value Log(const Unary& u) { return u.b.Div(u.g, u.x); }

// ---- Gelu and Erf ----

// 2 / sqrt(pi) * e^(-x^2)
Value SlopeOfErf(VjpBuilder& b, Value x) {
  return b.Scale(b.Op("Exp", {b.Neg(b.Square(x))}),
                 2 * std::numbers::inv_sqrtpi);
}
Value Erf(const Unary& u) { return u.b.Multiply(u.g, SlopeOfErf(u.b, u.x)); }

// y = x * (1 + erf(x / sqrt(2))) / 2
Value GeluErf(const Unary& u) {
  const Value inner = u.b.Scale(u.x, std::numbers::sqrt2 / 2);
  const Value phi = u.b.Linear(u.b.Op("Erf", {inner}), 0.5, 0.5);
  const Value density =
      u.b.Scale(SlopeOfErf(u.b, inner), std::numbers::sqrt2 / 4);
  return u.b.Multiply(u.g, u.b.Add(phi, u.b.Multiply(u.x, density)));
}

// y = x * (1 + tanh(c * (x + k * x^3))) / 2
Value GeluTanh(const Unary& u) {
  const double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  constexpr double kCubic = 0.044715;
  const Value square = u.b.Square(u.x);
  const Value inner = u.b.Multiply(u.x, u.b.Linear(square, c * kCubic, c));
  const Value t = u.b.Op("Tanh", {inner});
  const Value slope =
      u.b.Multiply(u.b.Multiply(u.x, u.b.Linear(u.b.Square(t), -0.5, 0.5)),
                   u.b.Linear(square, 3 * c * kCubic, c));
  return u.b.Multiply(u.g, u.b.Add(u.b.Linear(t, 0.5, 0.5), slope));
}

Value Gelu(const Unary& u) {
  return u.b.attributes().Bool("approximate") ? GeluTanh(u) : GeluErf(u);
}

// ---- Powers and signs ----

Value Sqrt(const Unary& u) { return u.b.Scale(u.b.Div(u.g, u.y), 0.5); }
Value Rsqrt(const Unary& u) {
  const Value cube = u.b.Multiply(u.b.Square(u.y), u.y);
  return u.b.Scale(u.b.Multiply(u.g, cube), -0.5);
}
Value Square(const Unary& u) { return u.b.Scale(u.b.Multiply(u.g, u.x), 2); }
Value Neg(const Unary& u) { return u.b.Neg(u.g); }
Value Abs(const Unary& u) { return u.b.Multiply(u.g, u.b.Op("Sign", {u.x})); }
Value Rcp(const Unary& u) {
  return u.b.Neg(u.b.Multiply(u.g, u.b.Square(u.y)));
}
// y = x / (1 + |x|), so that 1 - |y| = 1 / (1 + |x|).
Value SoftSign(const Unary& u) {
  const Value rest = u.b.Linear(u.b.Op("Abs", {u.y}), -1, 1);
  return u.b.Multiply(u.g, u.b.Square(rest));
}

// ---- Trigonometry ----

Value Sin(const Unary& u) { return u.b.Multiply(u.g, u.b.Op("Cos", {u.x})); }
Value Cos(const Unary& u) {
  return u.b.Neg(u.b.Multiply(u.g, u.b.Op("Sin", {u.x})));
}
Value Tan(const Unary& u) {
  return u.b.Multiply(u.g, u.b.Linear(u.b.Square(u.y), 1, 1));
}
Value ATan(const Unary& u) {
  return u.b.Div(u.g, u.b.Linear(u.b.Square(u.x), 1, 1));
}

struct Row {
  std::string_view op;
  VjpRule rule;
};

constexpr Row kRows[] = {
    {"Relu", Rule<Relu>},
    {"Relu1", Rule<Relu1>},
    {"Relu6", Rule<Relu6>},
    {"Clip", Rule<Clip>},
    {"LeakyRelu", Rule<LeakyRelu>},
    {"Linear", Rule<Linear>},
    {"Dropout", Rule<Dropout>},
    {"HardSigmoid", Rule<HardSigmoid>},
    {"HardSwish", Rule<HardSwish>},
    {"Tanh", Rule<Tanh>},
    {"Sigmoid", Rule<Sigmoid>},
    {"Swish", Rule<Swish>},
    {"Mish", Rule<Mish>},
    {"SoftRelu", Rule<SoftRelu>},
    {"Elu", Rule<Elu>},
    {"Selu", Rule<Selu>},
    {"Celu", Rule<Celu>},
    {"Gelu", Rule<Gelu>},
    {"Erf", Rule<Erf>},
    {"Exp", Rule<Exp>},
    {"Log", Rule<Log>},
    {"Sqrt", Rule<Sqrt>},
    {"Rsqrt", Rule<Rsqrt>},
    {"Square", Rule<Square>},
    {"Neg", Rule<Neg>},
    {"Abs", Rule<Abs>},
    {"Rcp", Rule<Rcp>},
    {"SoftSign", Rule<SoftSign>},
    {"Sin", Rule<Sin>},
    {"Cos", Rule<Cos>},
    {"Tan", Rule<Tan>},
    {"ATan", Rule<ATan>},
    {"Sign", ir::ZeroVjp},
    {"Floor", ir::ZeroVjp},
    {"Ceil", ir::ZeroVjp},
    {"Round", ir::ZeroVjp},
};

}  // namespace

VjpRule UnaryVjp(std::string_view op) {
  for (const Row& row : kRows) {
    if (row.op == op) return row.rule;
  }
  return nullptr;
}

}  // namespace tim::ops
