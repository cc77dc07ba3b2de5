#include <algorithm>

#include "tests/properties/families/movement_cases.h"
#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/batch2space.h"
#include "tim/vx/ops/depth2space.h"
#include "tim/vx/ops/reorg.h"
#include "tim/vx/ops/space2batch.h"
#include "tim/vx/ops/space2depth.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kWhcn = 1;
constexpr int64_t kCwhn = 2;

// [w, h, c, n] of small extents.
Ints SmallShape(CaseRng& rng) {
  return {rng.Extent(17), rng.Extent(7), rng.Extent(5), rng.Int(1, 3)};
}

NodeCase LegalSpaceToDepth(CaseRng& rng) {
  const Ints s = SmallShape(rng);
  const int64_t x = rng.Int(1, 4);
  const int64_t y = rng.Int(1, 3);
  return MovedNode("tim.SpaceToDepth", {{"block_size", Ints{x, y}}},
                   {s[0] * x, s[1] * y, s[2], s[3]},
                   {s[0], s[1], s[2] * x * y, s[3]}, rng);
}

NodeCase LegalDepthToSpace(CaseRng& rng) {
  const Ints s = SmallShape(rng);
  const int64_t b = rng.Int(1, 4);
  return MovedNode(
      "tim.DepthToSpace", {{"block_size", b}, {"mode", rng.Int(0, 1)}},
      {s[0], s[1], s[2] * b * b, s[3]}, {s[0] * b, s[1] * b, s[2], s[3]}, rng);
}

struct Batched {
  Ints space;    ///< Whole in space.
  Ints batches;  ///< In blocks.
  Ints blocks;
  Ints counts;  ///< Before and after along each axis of space.
};

// Counts for some of a tensor of blocks in space.
Batched RandomBatched(CaseRng& rng) {
  const Ints s = SmallShape(rng);
  const int64_t axes = rng.Pick(Ints{2, 1});
  Batched out;
  int64_t blocks = 1;
  for (int64_t axis = 0; axis < axes; ++axis) {
    out.blocks.push_back(rng.Int(1, 3));
    blocks *= out.blocks[axis];
    out.batches.push_back(s[axis]);
    const int64_t whole = s[axis] * out.blocks[axis];
    out.counts.push_back(rng.Int(0, std::min<int64_t>(whole - 1, 4)));
    out.counts.push_back(
        rng.Int(0, std::min<int64_t>(whole - 1 - out.counts.back(), 4)));
    out.space.push_back(whole - out.counts[2 * axis] -
                        out.counts[2 * axis + 1]);
  }
  out.batches.insert(out.batches.end(), {s[2], s[3] * blocks});
  out.space.insert(out.space.end(), {s[2], s[3]});
  return out;
}

NodeCase LegalSpace2Batch(CaseRng& rng) {
  const Batched b = RandomBatched(rng);
  return MovedNode("tim.Space2Batch",
                   {{"block_size", b.blocks}, {"pad", b.counts}}, b.space,
                   b.batches, rng);
}

NodeCase LegalBatch2Space(CaseRng& rng) {
  Batched b = RandomBatched(rng);
  if (b.counts.size() == 2) b.counts.insert(b.counts.end(), {0, 0});
  return MovedNode("tim.Batch2Space",
                   {{"block_size", b.blocks}, {"crop", b.counts}}, b.batches,
                   b.space, rng);
}

NodeCase LegalReorg(CaseRng& rng) {
  const Ints s = SmallShape(rng);
  const int64_t stride = rng.Int(1, 3);
  const int64_t channels = stride * stride * s[2] + rng.Int(0, 7);
  return MovedNode("tim.Reorg", {{"stride", stride}},
                   {s[0] * stride, s[1] * stride, channels, s[3]},
                   {s[0], s[1], channels * stride * stride, s[3]}, rng);
}

std::vector<IllegalCase> IllegalSpaceToDepths() {
  const auto node = [](Ints block, Ints shape) {
    return MovedFloats("tim.SpaceToDepth", {{"block_size", std::move(block)}},
                       std::move(shape), {2, 1, 8, 1});
  };
  const Ints shape = {4, 2, 2, 1};
  std::vector<IllegalCase> out = IllegalOperands(node({2, 2}, shape));
  out.push_back({node({2}, shape), "attribute 'block_size' has 1 values"});
  out.push_back({node({2, 0}, shape), "attribute 'block_size' has 0"});
  out.push_back({node({3, 2}, shape), "is not a multiple of 3"});
  out.push_back({node({2, 2}, {4, 2, 2}), "expected 4"});
  return out;
}

std::vector<IllegalCase> IllegalDepthToSpaces() {
  const auto node = [](int64_t block, int64_t mode, Ints shape) {
    return MovedFloats("tim.DepthToSpace",
                       {{"block_size", block}, {"mode", mode}},
                       std::move(shape), {4, 2, 1, 1});
  };
  const Ints shape = {2, 1, 4, 1};
  std::vector<IllegalCase> out = IllegalOperands(node(2, 0, shape));
  out.push_back({node(0, 0, shape), "attribute 'block_size' has 0"});
  out.push_back({node(3, 0, shape), "is not a multiple of 9"});
  out.push_back({node(2, 2, shape), "mode"});
  out.push_back({node(2, 0, {2, 1, 4}), "expected 4"});
  return out;
}

// Of Space2Batch and Batch2Space, whose counts are named differently.
std::vector<IllegalCase> IllegalBatched(const std::string& op,
                                        const std::string& counts_name) {
  const auto node = [&](Ints block, Ints counts, Ints shape) {
    return MovedFloats(
        op,
        {{"block_size", std::move(block)}, {counts_name, std::move(counts)}},
        std::move(shape), {4, 4, 2, 4});
  };
  const Ints shape = {4, 4, 2, 4};
  const Ints none = {0, 0, 0, 0};
  std::vector<IllegalCase> out = IllegalOperands(node({2, 2}, none, shape));
  out.push_back({node({2}, none, shape), "'block_size' has 1 values"});
  out.push_back({node({2, -1}, none, shape), "'block_size' has -1"});
  out.push_back({node({2, 2}, {0, 0}, shape),
                 StrCat("'", counts_name, "' has 2 values")});
  out.push_back({node({2, 2}, {0, -1, 0, 0}, shape), "has a negative count"});
  out.push_back({node({3, 2}, none, shape), "is not a multiple of 3"});
  out.push_back({node({2, 2}, none, {4, 4}), "expected 3 or 4"});
  return out;
}

std::vector<IllegalCase> IllegalReorgs() {
  const auto node = [](int64_t stride, Ints shape) {
    return MovedFloats("tim.Reorg", {{"stride", stride}}, std::move(shape),
                       {2, 2, 16, 1});
  };
  const Ints shape = {4, 4, 4, 1};
  std::vector<IllegalCase> out = IllegalOperands(node(2, shape));
  out.push_back({node(0, shape), "attribute 'stride' is 0"});
  out.push_back({node(2, {4, 4, 3, 1}), "has 3 channels"});
  out.push_back({node(2, {4, 3, 4, 1}), "is not a multiple of 2"});
  out.push_back({node(2, {4, 4, 4}), "expected 4"});
  return out;
}

OperatorCases CasesOf(const std::string& op,
                      std::function<NodeCase(CaseRng&)> legal,
                      std::function<std::vector<IllegalCase>()> illegal,
                      std::vector<Shell> shells) {
  return {.op = op,
          .legal = std::move(legal),
          .illegal = std::move(illegal),
          .flops = FlopsPerMoved,
          .shells = std::move(shells)};
}

}  // namespace

TIM_CASES(space_depth) {
  using vx::DataLayout;
  using vx::ops::Batch2Space;
  using vx::ops::DepthToSpace;
  using vx::ops::Reorg;
  using vx::ops::Space2Batch;
  using vx::ops::SpaceToDepth;
  const std::vector<int> block = {2, 3}, counts = {1, 2, 3, 4};
  const auto with = [](ir::AttributeMap attributes, int64_t layout) {
    attributes.Set("layout", layout);
    return attributes;
  };
  const ir::AttributeMap to_depth = {{"block_size", Ints{2, 3}}};
  cases.Add(CasesOf(
      "tim.SpaceToDepth", LegalSpaceToDepth, IllegalSpaceToDepths,
      {ShellOf<SpaceToDepth>(with(to_depth, kWhcn), block),
       ShellOf<SpaceToDepth>(with(to_depth, kCwhn), block, DataLayout::CWHN)}));
  const auto to_space = [](int64_t mode) {
    return ir::AttributeMap{{"block_size", int64_t{2}}, {"mode", mode}};
  };
  cases.Add(CasesOf(
      "tim.DepthToSpace", LegalDepthToSpace, IllegalDepthToSpaces,
      {ShellOf<DepthToSpace>(with(to_space(0), kWhcn), 2),
       ShellOf<DepthToSpace>(with(to_space(0), kCwhn), 2, DataLayout::CWHN),
       ShellOf<DepthToSpace>(with(to_space(1), kWhcn), 2,
                             DepthToSpace::CRD_mode),
       ShellOf<DepthToSpace>(with(to_space(1), kCwhn), 2,
                             DepthToSpace::CRD_mode, DataLayout::CWHN)}));
  const auto batched = [](const char* name) {
    return ir::AttributeMap{{"block_size", Ints{2, 3}},
                            {name, Ints{1, 2, 3, 4}}};
  };
  cases.Add(
      CasesOf("tim.Space2Batch", LegalSpace2Batch,
              [] { return IllegalBatched("tim.Space2Batch", "pad"); },
              {ShellOf<Space2Batch>(with(batched("pad"), kWhcn), block, counts),
               ShellOf<Space2Batch>(with(batched("pad"), kCwhn), block, counts,
                                    DataLayout::CWHN)}));
  cases.Add(CasesOf(
      "tim.Batch2Space", LegalBatch2Space,
      [] {
        auto out = IllegalBatched("tim.Batch2Space", "crop");
        out.push_back({out[0].node, "leaves nothing"});
        out.back().node.inputs = {Desc(ir::DataType::kFloat32, {4, 4, 2, 4})};
        out.back().node.attributes.Set("crop", Ints{4, 4, 0, 0});
        return out;
      },
      {ShellOf<Batch2Space>(with(batched("crop"), kWhcn), block, counts),
       ShellOf<Batch2Space>(with(batched("crop"), kCwhn), block, counts,
                            DataLayout::CWHN)}));
  cases.Add(CasesOf("tim.Reorg", LegalReorg, IllegalReorgs,
                    {ShellOf<Reorg>({{"stride", int64_t{2}}}, 2)}));
}

}  // namespace tim::testing
