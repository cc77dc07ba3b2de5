#include <algorithm>

#include "tests/properties/families/pool_axis.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/pool1d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Sets attributes and gives the output's length.
int64_t Windows(const PoolCaseAxis& w, CaseRng& rng,
                ir::AttributeMap* attributes) {
  switch (rng.OneIn(3) ? rng.Int(1, 2) : 0) {
    case 1:
      attributes->Set("mode", "global");
      attributes->Set("input_size", w.input);
      return 1;
    case 2: {
      const int64_t out = rng.Int(1, w.input);
      attributes->Set("mode", "adaptive");
      attributes->Set("input_size", w.input);
      attributes->Set("output_size", out);
      return out;
    }
    default:
      break;
  }
  const int64_t padding = rng.Pick<int64_t>({kAuto, kSame, kValid, kNone});
  const bool ceiling = rng.OneIn(2);
  attributes->Set("padding", padding);
  attributes->Set("round_type", int64_t{ceiling ? 0 : 1});
  attributes->Set("ksize", w.kernel);
  attributes->Set("stride", w.stride);
  attributes->Set("pad", Ints{w.front, w.back});
  return w.Output(padding, ceiling);
}

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(PoolTypes());
  const PoolCaseAxis w = RandomPoolAxis(rng);
  NodeCase node = {.op = "tim.Pool1d"};
  node.attributes.Set("type", rng.Int(0, 4));
  const int64_t length = Windows(w, rng, &node.attributes);
  const int64_t channels = rng.Extent(), batch = rng.Int(1, 3);
  node.inputs = {rng.Desc(types.inputs[0], {w.input, channels, batch})};
  node.outputs = {rng.Desc(types.outputs[0], {length, channels, batch})};
  return node;
}

double Flops(const NodeCase& node) {
  const int64_t input = node.inputs[0]->shape[0];
  const int64_t output = node.outputs[0].shape[0];
  // Global pooling is adaptive to one.
  const int64_t cells = node.attributes.Find("ksize") != nullptr
                            ? std::min(node.attributes.Int("ksize"), input)
                            : input - (output - 1) * (input / output);
  return static_cast<double>(cells * *node.outputs[0].shape.NumElements());
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const auto node = [&](Ints input, const ir::AttributeMap& more) {
    ir::AttributeMap attributes = {
        {"type", int64_t{0}}, {"ksize", int64_t{2}}, {"stride", int64_t{1}}};
    for (const auto& [name, value] : more.entries())
      attributes.Set(name, value);
    return NodeCase{.op = "tim.Pool1d",
                    .attributes = attributes,
                    .inputs = {f32(std::move(input))},
                    .outputs = {f32({1, 1, 1})}};
  };
  const Ints row = {4, 2, 1};
  const ir::AttributeMap adaptive = {{"mode", "adaptive"},
                                     {"input_size", int64_t{4}},
                                     {"output_size", int64_t{5}}};
  return {
      {node({4, 4}, {}), "has rank 2, expected 3"},
      {node({4, 4, 2, 1}, {}), "has rank 4, expected 3"},
      {node(row, {{"ksize", int64_t{5}}}), "does not fit the input"},
      {node(row, {{"ksize", int64_t{0}}}), "ksize is 0, expected >= 1"},
      {node(row, {{"stride", int64_t{0}}}), "stride is 0"},
      {node(row, {{"mode", "no_such"}}), "'no_such'"},
      {node(row, {{"mode", "global"}}), "input_size is 0"},
      {node(row, {{"type", int64_t{9}}}), "type"},
      {node(row, {{"pad", Ints{1}}}), "attribute 'pad' has 1 elements"},
      {node(row, {{"pad", Ints{-1, 0}}}), "pad"},
      {node(row, adaptive), "output_size 5 exceeds input_size 4"},
  };
}

std::vector<Shell> Shells() {
  using vx::DataLayout;
  using vx::PoolType;
  using vx::RoundType;
  using vx::ops::Pool1d;
  const std::array<uint32_t, 2> pad = {1, 2};
  return {
      ShellOf<Pool1d>({{"type", int64_t{1}},
                       {"padding", int64_t{2}},
                       {"ksize", int64_t{3}},
                       {"stride", int64_t{2}}},
                      PoolType::AVG, vx::PadType::SAME, 3, 2),
      ShellOf<Pool1d>({{"type", int64_t{0}},
                       {"pad", Ints{1, 2}},
                       {"ksize", int64_t{3}},
                       {"stride", int64_t{2}},
                       {"round_type", int64_t{0}},
                       {"layout", int64_t{1}}},
                      PoolType::MAX, pad, 3, 2, RoundType::CEILING,
                      DataLayout::WHCN),
      ShellOf<Pool1d>({{"type", int64_t{3}},
                       {"mode", "global"},
                       {"input_size", int64_t{3}}},
                      PoolType::AVG_ANDROID, 3),
      ShellOf<Pool1d>({{"type", int64_t{2}},
                       {"mode", "adaptive"},
                       {"input_size", int64_t{3}},
                       {"output_size", int64_t{2}},
                       {"round_type", int64_t{0}}},
                      PoolType::L2, 3, 2, RoundType::CEILING),
  };
}

}  // namespace

TIM_CASES(pool1d) {
  cases.Add({.op = "tim.Pool1d",
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = {.relative = 1e-6},
             .flops = Flops,
             .shells = Shells(),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
