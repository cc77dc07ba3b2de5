// Activations that exporters spell out in smaller operators: Swish, Mish,
// HardSwish and both forms of Gelu.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_registry.h"
#include "ops/elements/rewrites.h"

namespace tim::ops {
namespace {

using ir::Pattern;
using ir::PatternMatch;
using Condition = std::function<bool(const PatternMatch&)>;

constexpr double kRootOfHalf = 0.70710678118654752;
constexpr double kRootOf2 = 1.41421356237309505;
constexpr double kRootOf2ByPi = 0.79788456080286536;

Pattern X() { return Pattern::Any("x"); }

Pattern Multiply(Pattern a, Pattern b) {
  return EitherOrder("tim.Multiply", std::move(a), std::move(b));
}

Pattern Divide(Pattern a, Pattern b) {
  Pattern out = Pattern::Op("tim.Div", {std::move(a), std::move(b)});
  out.attributes = {{"scale", 1.0}};
  return out;
}

Pattern Unary(const std::string& op, Pattern x) {
  return Pattern::Op(op, {std::move(x)});
}

void AddRule(const std::string& name, Pattern pattern, Condition condition,
             const std::string& op, ir::AttributeMap attributes,
             ir::OpRegistry& registry) {
  pattern.where = [condition =
                       std::move(condition)](const PatternMatch& match) {
    return IsFloat32(match) && (!condition || condition(match));
  };
  registry.Add(ir::RewriteRule{.name = name,
                               .pattern = std::move(pattern),
                               .op = op,
                               .node = [=](const PatternMatch& match) {
                                 return ir::NewNode{
                                     .op = op,
                                     .inputs = {match.values.at("x")},
                                     .attributes = attributes};
                               }});
}

// The three ways to multiply x, 1/2 and 1 + s(x).
std::vector<Pattern> HalfOfProduct(const Pattern& sum) {
  const Pattern half = Pattern::Constant("half");
  return {Multiply(Multiply(X(), sum), half),
          Multiply(Multiply(X(), half), sum),
          Multiply(X(), Multiply(sum, half))};
}

void AddGelu(const std::string& name, const Pattern& sigmoid_like,
             const Condition& condition, bool approximate,
             ir::OpRegistry& registry) {
  const Pattern sum =
      EitherOrder("tim.Add", sigmoid_like, Pattern::Constant("one"));
  int form = 0;
  for (const Pattern& pattern : HalfOfProduct(sum)) {
    AddRule(
        StrCat(name, " ", ++form), pattern,
        [condition](const PatternMatch& match) {
          return IsScalar(match, "half", 0.5) && IsScalar(match, "one", 1) &&
                 condition(match);
        },
        "tim.Gelu", {{"approximate", approximate}}, registry);
  }
}

// x (1 + erf(x / sqrt 2)) / 2
void AddGeluErf(ir::OpRegistry& registry) {
  const Pattern scaled =
      Pattern::OneOf({Multiply(X(), Pattern::Constant("factor")),
                      Divide(X(), Pattern::Constant("divisor"))});
  AddGelu(
      "gelu of erf", Unary("tim.Erf", scaled),
      [](const PatternMatch& match) {
        return match.values.contains("factor")
                   ? IsScalar(match, "factor", kRootOfHalf)
                   : IsScalar(match, "divisor", kRootOf2);
      },
      false, registry);
}

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
void AddGeluTanh(ir::OpRegistry& registry) {
  const Pattern cube =
      Pattern::OneOf({Pattern::Op("tim.Pow", {X(), Pattern::Constant("three")}),
                      Multiply(Multiply(X(), X()), X()),
                      Multiply(Unary("tim.Square", X()), X())});
  const Pattern inner =
      EitherOrder("tim.Add", X(), Multiply(cube, Pattern::Constant("cubic")));
  AddGelu(
      "gelu of tanh",
      Unary("tim.Tanh", Multiply(inner, Pattern::Constant("factor"))),
      [](const PatternMatch& match) {
        return IsScalar(match, "cubic", 0.044715) &&
               IsScalar(match, "factor", kRootOf2ByPi) &&
               (!match.values.contains("three") || IsScalar(match, "three", 3));
      },
      true, registry);
}

// x min(max(x + 3, 0), 6) / 6
void AddHardSwish(ir::OpRegistry& registry) {
  const Pattern sum = EitherOrder("tim.Add", X(), Pattern::Constant("three"));
  Pattern clip = Unary("tim.Clip", sum);
  clip.attributes = {{"min", 0.0}, {"max", 6.0}};
  const Pattern clamped = Pattern::OneOf({Unary("tim.Relu6", sum), clip});
  const auto sixth = [](const Pattern& of) {
    return Pattern::OneOf({Multiply(of, Pattern::Constant("sixth")),
                           Divide(of, Pattern::Constant("six"))});
  };
  const auto condition = [](const PatternMatch& match) {
    return IsScalar(match, "three", 3) &&
           (match.values.contains("six") ? IsScalar(match, "six", 6)
                                         : IsScalar(match, "sixth", 1.0 / 6));
  };
  const Pattern product = Multiply(X(), clamped);
  AddRule("hard swish 1", Multiply(X(), sixth(clamped)), condition,
          "tim.HardSwish", {}, registry);
  AddRule("hard swish 2", Multiply(product, Pattern::Constant("sixth")),
          condition, "tim.HardSwish", {}, registry);
  AddRule("hard swish 3", Divide(product, Pattern::Constant("six")), condition,
          "tim.HardSwish", {}, registry);
}

}  // namespace

TIM_OPERATOR(activation_rewrites) {
  AddRule("swish", Multiply(X(), Unary("tim.Sigmoid", X())), nullptr,
          "tim.Swish", {}, registry);
  AddRule("mish", Multiply(X(), Unary("tim.Tanh", Unary("tim.SoftRelu", X()))),
          nullptr, "tim.Mish", {}, registry);
  AddHardSwish(registry);
  AddGeluErf(registry);
  AddGeluTanh(registry);
}

}  // namespace tim::ops
