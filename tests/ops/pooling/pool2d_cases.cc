#include <algorithm>

#include "tests/properties/families/pool_axis.h"
#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/pool2d.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

// Sets attributes and gives the extents 0 and 1 of the output.
Ints Windows(const PoolCaseAxis& w, const PoolCaseAxis& h, CaseRng& rng,
             ir::AttributeMap* attributes) {
  const Ints size = {w.input, h.input};
  switch (rng.OneIn(3) ? rng.Int(1, 2) : 0) {
    case 1:
      attributes->Set("mode", "global");
      attributes->Set("input_size", size);
      return {1, 1};
    case 2: {
      const Ints out = {rng.Int(1, w.input), rng.Int(1, h.input)};
      attributes->Set("mode", "adaptive");
      attributes->Set("input_size", size);
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
  attributes->Set("ksize", Ints{w.kernel, h.kernel});
  attributes->Set("stride", Ints{w.stride, h.stride});
  attributes->Set("pad", Ints{w.front, w.back, h.front, h.back});
  return {w.Output(padding, ceiling), h.Output(padding, ceiling)};
}

NodeCase Legal(CaseRng& rng) {
  const TypeNames types = rng.Types(PoolTypes());
  const PoolCaseAxis w = RandomPoolAxis(rng);
  const PoolCaseAxis h = RandomPoolAxis(rng);
  NodeCase node = {.op = "tim.Pool2d"};
  node.attributes.Set("type", rng.Int(0, 4));
  Ints output = Windows(w, h, rng, &node.attributes);
  Ints input = {w.input, h.input, rng.Extent()};
  if (rng.OneIn(2)) input.push_back(rng.Int(1, 2));
  output.insert(output.end(), input.begin() + 2, input.end());
  node.inputs = {rng.Desc(types.inputs[0], input)};
  node.outputs = {rng.Desc(types.outputs[0], output)};
  return node;
}

// Cells that a window of one axis has inside the image, at most.
double CellsOf(const NodeCase& node, int axis) {
  const int64_t input = node.inputs[0]->shape[axis];
  const int64_t output = node.outputs[0].shape[axis];
  if (node.attributes.Find("ksize") != nullptr) {
    const int64_t kernel = node.attributes.Ints("ksize")[axis];
    return static_cast<double>(std::min(kernel, input));
  }
  // Global pooling is adaptive to one.
  return static_cast<double>(input - (output - 1) * (input / output));
}

double Flops(const NodeCase& node) {
  return CellsOf(node, 0) * CellsOf(node, 1) *
         static_cast<double>(*node.outputs[0].shape.NumElements());
}

std::vector<IllegalCase> Illegal() {
  const auto f32 = [](Ints dims) {
    return Desc(ir::DataType::kFloat32, std::move(dims));
  };
  const auto node = [&](Ints input, const ir::AttributeMap& more) {
    ir::AttributeMap attributes = {
        {"type", int64_t{0}}, {"ksize", Ints{2, 2}}, {"stride", Ints{1, 1}}};
    for (const auto& [name, value] : more.entries())
      attributes.Set(name, value);
    return NodeCase{.op = "tim.Pool2d",
                    .attributes = attributes,
                    .inputs = {f32(std::move(input))},
                    .outputs = {f32({1, 1, 1, 1})}};
  };
  const Ints image = {4, 4, 2, 1};
  const ir::AttributeMap adaptive = {{"mode", "adaptive"},
                                     {"input_size", Ints{4, 4}},
                                     {"output_size", Ints{5, 1}}};
  return {
      {node({4, 4}, {}), "has rank 2"},
      {node(image, {{"ksize", Ints{5, 5}}}), "does not fit the input"},
      {node(image, {{"stride", Ints{0, 1}}}), "stride is 0"},
      {node(image, {{"mode", "no_such"}}), "attribute 'mode' is 'no_such'"},
      {node(image, {{"type", int64_t{5}}}), "type"},
      {node(image, {{"pad", Ints{1}}}), "attribute 'pad' has 1 elements"},
      {node(image, adaptive), "output_size 5 exceeds input_size 4"},
  };
}

std::vector<Shell> Shells() {
  using vx::PoolType;
  using vx::ops::Pool2d;
  using Array2 = std::array<uint32_t, 2>;
  using Array4 = std::array<uint32_t, 4>;
  const Array2 two = {2, 3}, stride = {1, 2};
  const Array4 pad = {1, 2, 3, 4};
  return {
      ShellOf<Pool2d>({{"type", int64_t{1}},
                       {"padding", int64_t{2}},
                       {"ksize", Ints{2, 3}},
                       {"stride", Ints{1, 2}}},
                      PoolType::AVG, vx::PadType::SAME, two, stride),
      ShellOf<Pool2d>({{"type", int64_t{0}},
                       {"pad", Ints{1, 2, 3, 4}},
                       {"ksize", Ints{2, 3}},
                       {"stride", Ints{1, 2}},
                       {"round_type", int64_t{0}}},
                      PoolType::MAX, pad, two, stride, vx::RoundType::CEILING),
      ShellOf<Pool2d>({{"type", int64_t{4}},
                       {"pad", Ints{1, 2, 3, 4}},
                       {"ksize", Ints{2, 3}},
                       {"stride", Ints{1, 2}},
                       {"round_type", int64_t{0}}},
                      PoolType::AVG_PADDED, pad, two, stride,
                      vx::RoundType::CEILING),
      ShellOf<Pool2d>({{"type", int64_t{0}},
                       {"mode", "global"},
                       {"input_size", Ints{2, 3}}},
                      PoolType::MAX, two),
      ShellOf<Pool2d>({{"type", int64_t{0}},
                       {"mode", "adaptive"},
                       {"input_size", Ints{2, 3}},
                       {"output_size", Ints{1, 2}}},
                      PoolType::MAX, two, stride),
  };
}

}  // namespace

TIM_CASES(pool2d) {
  cases.Add({.op = "tim.Pool2d",
             .legal = Legal,
             .illegal = Illegal,
             .tolerance = {.relative = 1e-6},
             .flops = Flops,
             .shells = Shells(),
             .permute_rule = PermuteRule::kPartial});
}

}  // namespace tim::testing
