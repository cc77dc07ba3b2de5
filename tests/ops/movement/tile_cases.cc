#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/broadcast.h"
#include "tim/vx/ops/tile.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

NodeCase LegalTile(CaseRng& rng) {
  const Ints shape = rng.Shape(1, 5, 1000);
  Ints multiples;
  Ints output;
  for (const int64_t extent : shape) {
    multiples.push_back(rng.Int(1, 3));
    output.push_back(extent * multiples.back());
  }
  return MovedNode("tim.Tile", {{"multiples", multiples}}, shape, output, rng);
}

std::vector<IllegalCase> IllegalTiles() {
  const auto node = [](Ints multiples) {
    return MovedFloats("tim.Tile", {{"multiples", std::move(multiples)}},
                       {4, 3}, {4, 3});
  };
  std::vector<IllegalCase> out = IllegalOperands(node({1, 1}));
  out.push_back({node({1}), "attribute 'multiples' has 1 counts"});
  out.push_back({node({1, 0}), "attribute 'multiples' is 0 along axis 1"});
  out.push_back({node({1, int64_t{1} << 62}), "overflows 64 bits"});
  return out;
}

// The input has some axes of the output; their places are named.
NodeCase PlacedBroadcast(CaseRng& rng) {
  const Ints output = rng.Shape(1, 5, 5000);
  const auto rank = static_cast<int>(output.size());
  const std::vector<int> order = rng.Permutation(rank);
  Ints shape;
  Ints dimensions;
  for (int64_t i = rng.Int(1, rank); i > 0; --i) {
    const int at = order[i - 1];
    shape.push_back(rng.OneIn(4) ? 1 : output[at]);
    dimensions.push_back(rng.OneIn(3) ? at - rank : at);
  }
  return MovedNode("tim.Broadcast",
                   {{"shape", output}, {"dimensions", dimensions}}, shape,
                   output, rng);
}

NodeCase LegalBroadcast(CaseRng& rng) {
  if (rng.OneIn(2)) return PlacedBroadcast(rng);
  const Ints output = rng.Shape(1, 5, 5000);
  const Ints shape = rng.BroadcastFrom(output);
  Ints target = output;
  // Where the input has the extent, 1 will do.
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == output[axis] && rng.OneIn(4)) target[axis] = 1;
  }
  return MovedNode("tim.Broadcast", {{"shape", target}}, shape, output, rng);
}

std::vector<IllegalCase> IllegalBroadcasts() {
  const auto node = [](Ints shape, Ints dimensions) {
    return MovedFloats(
        "tim.Broadcast",
        {{"shape", std::move(shape)}, {"dimensions", std::move(dimensions)}},
        {4, 3}, {4, 3});
  };
  std::vector<IllegalCase> out = IllegalOperands(node({4, 3}, {}));
  out.push_back({node({4, 2}, {}), "do not broadcast"});
  out.push_back({node({}, {}), "attribute 'shape' has 0 extents"});
  out.push_back({node({4, 0}, {}), "has an extent of 0"});
  out.push_back({node({4, 3, 2}, {0}), "attribute 'dimensions' has 1 axes"});
  out.push_back({node({4, 3, 2}, {0, 3}), "axis 3 is outside"});
  out.push_back({node({4, 3, 2}, {1, -2}), "names axis 1 twice"});
  out.push_back({node({4, 3, 2}, {0, 2}), "do not broadcast"});
  return out;
}

}  // namespace

TIM_CASES(tile) {
  using vx::ops::Broadcast;
  using vx::ops::Tile;
  cases.Add({.op = "tim.Tile",
             .legal = LegalTile,
             .illegal = IllegalTiles,
             .flops = FlopsPerMoved,
             .shells = {ShellOf<Tile>({{"multiples", Ints{2, 1}}},
                                      std::vector<int32_t>{2, 1})},
             .permute_rule = PermuteRule::kRequired});
  cases.Add(
      {.op = "tim.Broadcast",
       .legal = LegalBroadcast,
       .illegal = IllegalBroadcasts,
       .flops = FlopsPerMoved,
       .shells = {ShellOf<Broadcast>({{"shape", Ints{3, 2}}},
                                     std::vector<uint32_t>{3, 2}),
                  ShellOf<Broadcast>(
                      {{"shape", Ints{3, 2}}, {"dimensions", Ints{-1}}},
                      std::vector<uint32_t>{3, 2}, std::vector<int32_t>{-1}),
                  ShellOf<Broadcast>(
                      {{"shape", Ints{3, 2}}, {"dimensions", Ints{1}}},
                      std::vector<int>{3, 2}, std::vector<int32_t>{1})}});
}

}  // namespace tim::testing
