// Attention that clients spell out in products, scale, mask and softmax.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_registry.h"
#include "ops/attention/attention_shape.h"
#include "ops/elements/rewrites.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

using ir::Pattern;
using ir::PatternMatch;

// x, or x times a number that is found under `name`.
std::vector<Pattern> PerhapsScaled(const Pattern& x, const std::string& name) {
  Pattern quotient =
      Pattern::Op("tim.Div", {x, Pattern::Constant(name + " divisor")});
  quotient.attributes = {{"scale", 1.0}};
  Pattern line = Pattern::Op("tim.Linear", {x}, name + " line");
  line.attributes = {{"b", 0.0}};
  return {EitherOrder("tim.Multiply", x, Pattern::Constant(name + " factor")),
          std::move(quotient), std::move(line), x};
}

// The number; nothing where the scale is no single one.
std::optional<float> ScaleIn(const PatternMatch& match,
                             const std::string& name) {
  if (match.values.contains(name + " factor")) {
    return ScalarOf(match, name + " factor");
  }
  if (match.values.contains(name + " divisor")) {
    const auto divisor = ScalarOf(match, name + " divisor");
    if (!divisor) return std::nullopt;
    return 1.0f / *divisor;
  }
  const auto line = match.named_nodes.find(name + " line");
  if (line == match.named_nodes.end()) return 1.0f;
  return match.graph->node(line->second).attributes.Float("a");
}

std::optional<float> ScaleOf(const PatternMatch& match) {
  float scale = 1;
  for (const char* name : {"queries'", "keys'", "scores'"}) {
    const auto factor = ScaleIn(match, name);
    if (!factor) return std::nullopt;
    scale *= *factor;
  }
  return scale;
}

const ir::Node& Named(const PatternMatch& match, const std::string& name) {
  return match.graph->node(match.named_nodes.at(name));
}

bool IsAlongKeys(const PatternMatch& match) {
  const ir::Node& softmax = Named(match, "weights");
  const ir::Shape& shape = match.graph->value(softmax.inputs[0]).desc.shape;
  if (!shape.ranked()) return false;
  const auto axis = WrapAxis(softmax.attributes.Int("axis"), shape.rank());
  return axis.ok() && *axis == 0;
}

// True where keys and their elements change places, and nothing else does, or
// there is no such node.
bool IsSwap(const PatternMatch& match) {
  if (!match.named_nodes.contains("swapped")) return true;
  std::vector<int64_t> perm = Named(match, "swapped").attributes.Ints("perm");
  if (perm.size() < 2) return false;
  std::swap(perm[0], perm[1]);
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool IsAttention(const PatternMatch& match) {
  return IsFloat32(match) && IsAlongKeys(match) && IsSwap(match) &&
         ScaleOf(match).has_value();
}

ir::NewNode AttentionOf(const PatternMatch& match) {
  const bool by_depth = !Named(match, "scores").attributes.Bool("transpose_b");
  const bool swapped = match.named_nodes.contains("swapped");
  ir::NewNode added = {
      .op = "tim.Attention",
      .inputs = {match.values.at("queries"), match.values.at("keys"),
                 match.values.at("values")},
      .attributes = {
          {kScoreScale, static_cast<double>(ScaleOf(match).value_or(1))},
          {kKeysByDepth, by_depth != swapped}}};
  const auto mask = match.values.find("mask");
  if (mask != match.values.end()) added.inputs.push_back(mask->second);
  return added;
}

Pattern WholeAttention() {
  const Pattern keys = Pattern::OneOf(
      {Pattern::Op("tim.Transpose", {Pattern::Any("keys")}, "swapped"),
       Pattern::Any("keys")});
  Pattern scores = Pattern::Op(
      "tim.Matmul",
      {Pattern::OneOf(PerhapsScaled(Pattern::Any("queries"), "queries'")),
       Pattern::OneOf(PerhapsScaled(keys, "keys'"))},
      "scores");
  scores.attributes = {{"transpose_a", false}};
  const Pattern scaled = Pattern::OneOf(PerhapsScaled(scores, "scores'"));
  Pattern weights = Pattern::Op(
      "tim.Softmax",
      {Pattern::OneOf(
          {EitherOrder("tim.Add", scaled, Pattern::Any("mask")), scaled})},
      "weights");
  weights.attributes = {{"beta", 1.0}};
  Pattern sums =
      Pattern::Op("tim.Matmul", {std::move(weights), Pattern::Any("values")});
  sums.attributes = {{"transpose_a", false}, {"transpose_b", false}};
  sums.where = IsAttention;
  return sums;
}

}  // namespace

TIM_OPERATOR(attention_rewrites) {
  registry.Add(ir::RewriteRule{.name = "attention",
                               .pattern = WholeAttention(),
                               .op = "tim.Attention",
                               .node = AttentionOf});
}

}  // namespace tim::ops
