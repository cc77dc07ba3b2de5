// Gradients of element-wise operations: diff_src from what the forward
// operation read, or made, and diff_dst.
//
// Factors are those of the formulas at infinity too: where a product would be
// of 0 and infinity, its limit.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

// From there on every factor has its limit.
constexpr double kFar = 80;
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// `x` is the forward operation's source or its result, `dd` is diff_dst.
using Gradient = std::function<Tensor(Formula&, const Op&, const Tensor& x,
                                      const Tensor& dd)>;

bool UsesResult(const Op& op) { return op.Bool(tim_graph_op_attr_use_dst); }

// dd where the condition holds, else 0.
Tensor Where(Formula& f, const Tensor& condition, const Tensor& dd) {
  return f.Select(condition, dd, f.Number(0));
}

Tensor Abs(Formula& f, const Op&, const Tensor& x, const Tensor& dd) {
  return f.Multiply(dd, f.Unary("Sign", x));
}

// The result is positive where the source is.
Tensor Relu(Formula& f, const Op&, const Tensor& x, const Tensor& dd) {
  return Where(f, f.Greater(x, 0), dd);
}

// The result is inside of the limits where the source is.
Tensor Clamp(Formula& f, const Op& op, const Tensor& x, const Tensor& dd) {
  const Tensor above =
      Where(f, f.Greater(x, op.Float(tim_graph_op_attr_min)), dd);
  return Where(f, f.Less(x, op.Float(tim_graph_op_attr_max)), above);
}

Tensor HardSigmoid(Formula& f, const Op& op, const Tensor& x,
                   const Tensor& dd) {
  const float alpha = op.Float(tim_graph_op_attr_alpha);
  const Tensor line = f.Linear(x, alpha, op.Float(tim_graph_op_attr_beta));
  const Tensor above = Where(f, f.Greater(line, 0), f.Linear(dd, alpha, 0));
  return Where(f, f.Less(line, 1), above);
}

Tensor HardSwish(Formula& f, const Op&, const Tensor& x, const Tensor& dd) {
  const Tensor between = f.Multiply(dd, f.Linear(x, 1.0 / 3, 0.5));
  return Where(f, f.Greater(x, -3), f.Select(f.Less(x, 3), between, dd));
}

Tensor ResultOf(Formula& f, const Op& op, const Tensor& x,
                const char* forward) {
  return UsesResult(op) ? x : f.Unary(forward, x);
}

// dd * d * (1 - d)
Tensor Sigmoid(Formula& f, const Op& op, const Tensor& x, const Tensor& dd) {
  const Tensor d = ResultOf(f, op, x, "Sigmoid");
  return f.Multiply(dd, f.Multiply(d, f.Linear(d, -1, 1)));
}

// dd * (1 - d^2)
Tensor Tanh(Formula& f, const Op& op, const Tensor& x, const Tensor& dd) {
  const Tensor d = ResultOf(f, op, x, "Tanh");
  return f.Multiply(dd, f.Linear(f.Unary("Square", d), -1, 1));
}

// dd / (2 * d)
Tensor Sqrt(Formula& f, const Op& op, const Tensor& x, const Tensor& dd) {
  const Tensor d = ResultOf(f, op, x, "Sqrt");
  return f.Div(dd, f.Linear(d, 2, 0));
}

// Where x <= 0: dd * (d + alpha), with d + alpha = alpha * e^x.
Tensor Elu(Formula& f, const Op& op, const Tensor& x, const Tensor& dd) {
  const float alpha = op.Float(tim_graph_op_attr_alpha);
  const Tensor slope = UsesResult(op) ? f.Linear(x, 1, alpha)
                                      : f.Linear(f.Unary("Exp", x), alpha, 0);
  return f.Select(f.Greater(x, 0), dd, f.Multiply(dd, slope));
}

// (1 + erf(x / sqrt(2))) / 2 + x * e^(-x^2 / 2) / sqrt(2 * pi)
Tensor GeluErf(Formula& f, const Tensor& x) {
  const Tensor u = f.Linear(x, kSqrtHalf, 0);
  const Tensor density = f.Unary("Exp", f.Linear(f.Unary("Square", u), -1, 0));
  const Tensor rest = f.Linear(f.Multiply(u, density), kTwoOverSqrtPi / 2, 0);
  return f.Add(f.Linear(f.Unary("Erf", u), 0.5, 0.5), rest);
}

// With u = sqrt(2 / pi) * (x + 0.044715 * x^3) and t = tanh(u):
// (1 + t) / 2 + x * (1 - t^2) / 2 * u'
Tensor GeluTanh(Formula& f, const Tensor& x) {
  constexpr double kScale = kTwoOverSqrtPi * kSqrtHalf;
  constexpr double kCube = 0.044715;
  const Tensor square = f.Unary("Square", x);
  const Tensor u = f.Multiply(x, f.Linear(square, kScale * kCube, kScale));
  const Tensor t = f.Unary("Tanh", u);
  const Tensor slope = f.Linear(square, 1.5 * kScale * kCube, 0.5 * kScale);
  const Tensor rest =
      f.Multiply(f.Linear(f.Unary("Square", t), -1, 1), f.Multiply(x, slope));
  return f.Add(f.Linear(t, 0.5, 0.5), rest);
}

Tensor Gelu(Formula& f, const Op& op, const Tensor& x, const Tensor& dd) {
  const Tensor near = f.Clip(x, -kFar, kFar);
  const bool tanh = op.String(tim_graph_op_attr_mode) == "gelu_tanh";
  return f.Multiply(dd, tanh ? GeluTanh(f, near) : GeluErf(f, near));
}

// With t = tanh(ln(1 + e^x)): t + x * (1 - t^2) * sigmoid(x)
Tensor Mish(Formula& f, const Op&, const Tensor& x, const Tensor& dd) {
  const Tensor near = f.Clip(x, -kFar, kFar);
  const Tensor t = f.Unary("Tanh", f.Unary("SoftRelu", near));
  const Tensor rest = f.Multiply(f.Linear(f.Unary("Square", t), -1, 1),
                                 f.Multiply(near, f.Unary("Sigmoid", near)));
  return f.Multiply(dd, f.Add(t, rest));
}

// dd * sigmoid(beta * x)
Tensor SoftPlus(Formula& f, const Op& op, const Tensor& x, const Tensor& dd) {
  const Tensor line = f.Linear(x, op.Float(tim_graph_op_attr_beta), 0);
  return f.Multiply(dd, f.Unary("Sigmoid", line));
}

struct Kind {
  tim_graph_op_kind_t kind;
  const char* name;
  Gradient gradient;
  std::vector<AttributeDef> attributes = {};
};

AttributeDef Required(tim_graph_op_attr_t attribute) {
  return {.attribute = attribute};
}
AttributeDef UseDst() {
  return {.attribute = tim_graph_op_attr_use_dst, .default_value = true};
}

std::vector<Kind> Kinds() {
  return {
      {tim_graph_op_abs_backward, "AbsBackward", Abs},
      {tim_graph_op_relu_backward, "ReLUBackward", Relu, {UseDst()}},
      {tim_graph_op_clamp_backward,
       "ClampBackward",
       Clamp,
       {Required(tim_graph_op_attr_min), Required(tim_graph_op_attr_max),
        UseDst()}},
      {tim_graph_op_hard_sigmoid_backward,
       "HardSigmoidBackward",
       HardSigmoid,
       {Required(tim_graph_op_attr_alpha), Required(tim_graph_op_attr_beta)}},
      {tim_graph_op_hard_swish_backward, "HardSwishBackward", HardSwish},
      {tim_graph_op_sigmoid_backward, "SigmoidBackward", Sigmoid, {UseDst()}},
      {tim_graph_op_tanh_backward, "TanhBackward", Tanh, {UseDst()}},
      {tim_graph_op_sqrt_backward, "SqrtBackward", Sqrt, {UseDst()}},
      {tim_graph_op_elu_backward,
       "EluBackward",
       Elu,
       {Required(tim_graph_op_attr_alpha), UseDst()}},
      {tim_graph_op_gelu_backward,
       "GELUBackward",
       Gelu,
       {{.attribute = tim_graph_op_attr_mode,
         .default_value = std::string("gelu_erf"),
         .choices = {"gelu_erf", "gelu_tanh"}}}},
      {tim_graph_op_mish_backward, "MishBackward", Mish},
      {tim_graph_op_softplus_backward,
       "SoftPlusBackward",
       SoftPlus,
       {{.attribute = tim_graph_op_attr_beta, .default_value = 1.0f}}},
  };
}

Status Lower(const Gradient& gradient, const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor x = f.In(0);
  const Tensor dd = f.In(1);
  if (x.dims != dd.dims) {
    return InvalidArgument("input 0 has dims {", StrJoin(x.dims, ", "),
                           "}, diff_dst {", StrJoin(dd.dims, ", "),
                           "}; expected equal ones");
  }
  return f.Store(0, gradient(f, op, x, dd));
}

}  // namespace

TIM_GRAPH_OPS(backward_elementwise) {
  for (Kind& kind : Kinds()) {
    bool by_result = false;
    for (const AttributeDef& def : kind.attributes) {
      by_result |= def.attribute == tim_graph_op_attr_use_dst;
    }
    table.Add(
        {.kind = kind.kind,
         .name = kind.name,
         .types = {{"T", FloatTypes()}},
         .inputs = {{by_result ? "src/dst" : "src", "T"}, {"diff_dst", "T"}},
         .outputs = {{"diff_src", "T"}},
         .attributes = std::move(kind.attributes),
         .lower = [gradient = kind.gradient](const Op& op, Lowering& lowering) {
           return Lower(gradient, op, lowering);
         }});
  }
}

}  // namespace tim::graph
