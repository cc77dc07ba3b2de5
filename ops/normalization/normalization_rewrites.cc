// Layer and RMS normalization that exporters spell out in means and roots.
#include <optional>
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

Pattern Square(const Pattern& x) {
  return Pattern::OneOf({Pattern::Op("tim.Pow", {x, Pattern::Constant("two")}),
                         Pattern::Op("tim.Square", {x}),
                         EitherOrder("tim.Multiply", x, x)});
}

Pattern Divide(Pattern a, Pattern b) {
  Pattern out = Pattern::Op("tim.Div", {std::move(a), std::move(b)});
  out.attributes = {{"scale", 1.0}};
  return out;
}

// The mean of the squares of x, and eps.
Pattern MeanSquare(const Pattern& x) {
  const Pattern mean = Mean(Square(x), "mean_square");
  Pattern shifted = Pattern::Op("tim.Linear", {mean}, "shifted");
  shifted.attributes = {{"a", 1.0}};
  return Pattern::OneOf(
      {EitherOrder("tim.Add", mean, Pattern::Constant("eps")), shifted});
}

// The eps of a match of that.
std::optional<float> EpsOf(const PatternMatch& match) {
  const auto shifted = match.named_nodes.find("shifted");
  if (shifted == match.named_nodes.end()) return ScalarOf(match, "eps");
  const ir::Node& node = match.graph->node(shifted->second);
  return static_cast<float>(node.attributes.Float("b"));
}

bool IsOfUnitMeanSquare(const PatternMatch& match) {
  return IsFloat32(match) && EpsOf(match).value_or(0) > 0 &&
         (!match.values.contains("two") || IsScalar(match, "two", 2)) &&
         (!match.values.contains("one") || IsScalar(match, "one", 1));
}

Pattern RootMeanSquare(const Pattern& x) {
  return Pattern::Op("tim.Sqrt", {MeanSquare(x)});
}

// x * (1 / sqrt(mean of x^2 + eps))
Pattern ProductOfUnitMeanSquare(const Pattern& x) {
  const Pattern root = RootMeanSquare(x);
  const Pattern inverse = Pattern::OneOf(
      {Pattern::Op("tim.Rsqrt", {MeanSquare(x)}),
       Pattern::Op("tim.Rcp", {root}), Divide(Pattern::Constant("one"), root)});
  return EitherOrder("tim.Multiply", x, inverse);
}

// x / sqrt(mean of x^2 + eps)
Pattern QuotientOfUnitMeanSquare(const Pattern& x) {
  return Divide(x, RootMeanSquare(x));
}

Pattern OfUnitMeanSquare(const Pattern& x) {
  return Pattern::OneOf(
      {ProductOfUnitMeanSquare(x), QuotientOfUnitMeanSquare(x)});
}

// One element for each of the fastest axis of x.
bool LiesAlongRows(const PatternMatch& match, const std::string& name) {
  const auto& shape = match.graph->value(match.values.at(name)).desc.shape;
  const auto& x = match.graph->value(match.values.at("x")).desc.shape;
  return shape.ranked() && x.ranked() && x.rank() > 0 && shape.rank() > 0 &&
         shape[0] == x[0] && shape.NumElements() == x[0];
}

bool IsLayerNormalization(const PatternMatch& match) {
  return IsOfUnitMeanSquare(match) && LiesAlongRows(match, "gamma") &&
         LiesAlongRows(match, "beta");
}

bool IsRmsNormalization(const PatternMatch& match) {
  return IsOfUnitMeanSquare(match) &&
         (!match.values.contains("gamma") || LiesAlongRows(match, "gamma"));
}

void AddLayerNormalization(ir::OpRegistry& registry) {
  Pattern pattern =
      EitherOrder("tim.Add",
                  EitherOrder("tim.Multiply", OfUnitMeanSquare(Centered()),
                              Pattern::Constant("gamma")),
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
                           {"eps", double{EpsOf(match).value_or(0)}}}};
      }});
}

void AddRmsNormalization(const std::string& name, Pattern pattern,
                         ir::OpRegistry& registry) {
  pattern.where = IsRmsNormalization;
  registry.Add(ir::RewriteRule{
      .name = name,
      .pattern = std::move(pattern),
      .op = "tim.RmsNormalization",
      .node = [](const PatternMatch& match) {
        ir::NewNode node = {
            .op = "tim.RmsNormalization",
            .inputs = {match.values.at("x")},
            .attributes = {{"axis", int64_t{0}},
                           {"eps", double{EpsOf(match).value_or(0)}}}};
        const auto gamma = match.values.find("gamma");
        if (gamma != match.values.end()) node.inputs.push_back(gamma->second);
        return node;
      }});
}

}  // namespace

TIM_OPERATOR(normalization_rewrites) {
  AddLayerNormalization(registry);
  const Pattern x = Pattern::Any("x");
  AddRmsNormalization("RMS normalization",
                      EitherOrder("tim.Multiply", OfUnitMeanSquare(x),
                                  Pattern::Constant("gamma")),
                      registry);
  AddRmsNormalization("RMS normalization without weights",
                      ProductOfUnitMeanSquare(x), registry);
  AddRmsNormalization("RMS normalization without weights, of a quotient",
                      QuotientOfUnitMeanSquare(x), registry);
}

}  // namespace tim::ops
