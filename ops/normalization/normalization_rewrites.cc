// Layer normalization that exporters spell out in means and roots.
#include <string>
#include <utility>
#include <vector>

#include "ir/op_registry.h"
#include "ops/elements/rewrites.h"

namespace tim::ops {
namespace {

using ir::Pattern;
using ir::PatternMatch;

// Mean along the fastest axis, whose extent becomes 1.
Pattern Mean(Pattern x, const std::string& name) {
  Pattern out = Pattern::Op("tim.ReduceMean", {std::move(x)}, name);
  out.attributes = {{"axis", std::vector<int64_t>{0}}, {"keep_dims", true}};
  return out;
}

Pattern Centered() {
  return Pattern::Op("tim.Sub",
                     {Pattern::Any("x"), Mean(Pattern::Any("x"), "mean")},
                     "centered");
}

Pattern Deviation() {
  const Pattern square = Pattern::OneOf(
      {Pattern::Op("tim.Pow", {Centered(), Pattern::Constant("two")}),
       Pattern::Op("tim.Square", {Centered()}),
       EitherOrder("tim.Multiply", Centered(), Centered())});
  return Pattern::Op("tim.Sqrt",
                     {EitherOrder("tim.Add", Mean(square, "variance"),
                                  Pattern::Constant("eps"))});
}

// One element for each of the fastest axis of x.
bool LiesAlongRows(const PatternMatch& match, const std::string& name) {
  const auto& shape = match.graph->value(match.values.at(name)).desc.shape;
  const auto& x = match.graph->value(match.values.at("x")).desc.shape;
  return shape.ranked() && x.ranked() && x.rank() > 0 && shape.rank() > 0 &&
         shape[0] == x[0] && shape.NumElements() == x[0];
}

bool IsLayerNormalization(const PatternMatch& match) {
  return IsFloat32(match) && ScalarOf(match, "eps").value_or(0) > 0 &&
         (!match.values.contains("two") || IsScalar(match, "two", 2)) &&
         LiesAlongRows(match, "gamma") && LiesAlongRows(match, "beta");
}

}  // namespace

TIM_OPERATOR(normalization_rewrites) {
  Pattern quotient = Pattern::Op("tim.Div", {Centered(), Deviation()});
  quotient.attributes = {{"scale", 1.0}};
  Pattern pattern = EitherOrder(
      "tim.Add",
      EitherOrder("tim.Multiply", quotient, Pattern::Constant("gamma")),
      Pattern::Constant("beta"));
  pattern.where = IsLayerNormalization;
  registry.Add(ir::RewriteRule{
      .name = "layer normalization",
      .pattern = std::move(pattern),
      .op = "tim.LayerNormalization",
      .node = [](const PatternMatch& match) {
        return ir::NewNode{
            .op = "tim.LayerNormalization",
            .inputs = {match.values.at("x"), match.values.at("beta"),
                       match.values.at("gamma")},
            .attributes = {{"axis", int64_t{0}},
                           {"eps", static_cast<double>(
                                       ScalarOf(match, "eps").value_or(0))}}};
      }});
}

}  // namespace tim::ops
