#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/split.h"
#include "tim/vx/ops/unstack.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Outputs of these shapes, all of one type.
void SetOutputs(const std::vector<Ints>& shapes, NodeCase* node) {
  const ir::TensorDesc first = node->outputs[0];
  node->outputs.clear();
  for (const Ints& shape : shapes) {
    node->outputs.push_back(first);
    node->outputs.back().shape = ir::Shape(shape);
    ir::Quantization& quantization = node->outputs.back().quantization;
    if (!quantization.per_channel()) continue;
    quantization.scales.resize(shape[quantization.axis], 0.25f);
    quantization.zero_points.resize(quantization.scales.size(), 3);
  }
}

NodeCase LegalSplit(CaseRng& rng) {
  Ints shape = rng.Shape(1, 5, 5000);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = rng.Axis(static_cast<int>(rank));
  const int64_t at = axis < 0 ? axis + rank : axis;
  Ints slices;
  std::vector<Ints> outputs;
  int64_t sum = 0;
  for (int64_t i = rng.Int(1, 4); i > 0; --i) {
    slices.push_back(i == 1 ? shape[at] : rng.Extent(17));
    outputs.push_back(shape);
    outputs.back()[at] = slices.back();
    sum += slices.back();
  }
  shape[at] = sum;
  NodeCase node = MovedNode("tim.Split", {{"axis", axis}, {"slices", slices}},
                            shape, outputs[0], rng);
  SetOutputs(outputs, &node);
  return node;
}

NodeCase LegalUnstack(CaseRng& rng) {
  Ints shape = rng.Shape(0, 4, 3000);
  const int64_t count = rng.Pick(Ints{2, 1, 3, 5, 7});
  const auto rank = static_cast<int64_t>(shape.size()) + 1;
  const int64_t axis = rng.Axis(static_cast<int>(rank));
  const Ints part = shape.empty() ? Ints{1} : shape;
  shape.insert(shape.begin() + (axis < 0 ? axis + rank : axis), count);
  NodeCase node = MovedNode(
      "tim.Unstack", {{"axis", axis}, {"output_num", count}}, shape, part, rng);
  SetOutputs(std::vector<Ints>(count, part), &node);
  return node;
}

std::vector<IllegalCase> IllegalSplits() {
  const auto node = [](int64_t axis, Ints slices) {
    NodeCase out = MovedFloats("tim.Split",
                               {{"axis", axis}, {"slices", std::move(slices)}},
                               {4, 3}, {2, 3});
    out.outputs.push_back(out.outputs[0]);
    return out;
  };
  std::vector<IllegalCase> out = IllegalOperands(node(0, {2, 2}));
  out.push_back({node(2, {2, 2}), "is outside"});
  out.push_back({node(0, {2, 1}), "does not add up to the extent 4"});
  out.push_back({node(0, {4, 0}), "has an extent of 0"});
  out.push_back({node(0, {5, -1}), "has an extent of -1"});
  out.push_back({node(0, {2, 1, 1}), "output 2 is not bound"});
  out.push_back({node(0, {4}), "at most 1 are taken"});
  return out;
}

std::vector<IllegalCase> IllegalUnstacks() {
  const auto node = [](int64_t axis, int64_t count) {
    NodeCase out = MovedFloats(
        "tim.Unstack", {{"axis", axis}, {"output_num", count}}, {2, 3}, {3});
    out.outputs.push_back(out.outputs[0]);
    return out;
  };
  std::vector<IllegalCase> out = IllegalOperands(node(0, 2));
  out.push_back({node(2, 2), "is outside"});
  out.push_back({node(1, 2), "expected the extent of axis 1, 3"});
  out.push_back({node(0, 0), "attribute 'output_num' is 0"});
  out.push_back({node(0, 3), "output 2 is not bound"});
  return out;
}

}  // namespace

TIM_CASES(split) {
  using vx::ops::Split;
  using vx::ops::Unstack;
  cases.Add(
      {.op = "tim.Split",
       .legal = LegalSplit,
       .illegal = IllegalSplits,
       .flops = FlopsPerMoved,
       .shells = {ShellOf<Split>({{"axis", int64_t{1}}, {"slices", Ints{2, 3}}},
                                 1u, std::vector<uint32_t>{2, 3})},
       .permute_rule = PermuteRule::kRequired});
  cases.Add({.op = "tim.Unstack",
             .legal = LegalUnstack,
             .illegal = IllegalUnstacks,
             .flops = FlopsPerMoved,
             .shells = {ShellOf<Unstack>(
                 {{"axis", int64_t{-1}}, {"output_num", int64_t{3}}}, -1, 3u)},
             .permute_rule = PermuteRule::kRequired});
}

}  // namespace tim::testing
