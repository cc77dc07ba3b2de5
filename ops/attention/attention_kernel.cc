// Attention in one launch: ops/attention/attention.cl for CPUs,
// attention_simt.cl for GPUs.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/attention/attention_shape.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

// Private memory of a work-item grows with both extents of a head.
constexpr int64_t kMostExtent = 128;
constexpr int64_t kMostTiles = 4;

// The queries of one work-item: `tiles` times `rows`.
struct Tile {
  int64_t rows = 12;
  int64_t width = 16;
  int64_t tiles = 1;

  int64_t queries() const { return rows * tiles; }
  int64_t step() const { return 2 * width; }
};

// The tile with as many sums as fit the registers beside two vectors of keys,
// and as many tiles, which share what is copied of keys and values, as leave
// every core some work-items.
Tile TileFor(const ir::KernelNode& node, const AttentionShape& shape,
             const ir::DeviceInfo& device) {
  constexpr int64_t kItemsPerUnit = 4;
  Tile tile;
  tile.width = device.float_vector_width >= 16 ? 16 : 8;
  const int64_t limit = tile.width == 16 ? 12 : 6;
  int64_t tiles = CeilDiv(shape.queries, limit);
  tile.rows = node.many_shapes ? limit : CeilDiv(shape.queries, tiles);
  const auto heads = static_cast<int64_t>(shape.heads.size());
  const int64_t items =
      std::max(CeilDiv(tiles, kMostTiles),
               std::min(tiles, CeilDiv(kItemsPerUnit * device.compute_units,
                                       std::max<int64_t>(heads, 1))));
  tile.tiles = CeilDiv(tiles, items);
  return tile;
}

// The room for an extent of a head, of which a program is made: of many shapes
// few have programs of their own.
int64_t RoomForMany(int64_t extent, int64_t least) {
  return std::max(
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))),
      least);
}

int64_t RoomFor(const ir::KernelNode& node, int64_t extent, int64_t unit) {
  return node.many_shapes ? RoomForMany(extent, unit) : AlignUp(extent, unit);
}

// The shape of a node that both kernels take.
Result<AttentionShape> AnalyzeShape(const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  AttentionShape shape = AttentionShapeOf(node);
  for (const int64_t extent : {shape.depth, shape.columns}) {
    if (extent > kMostExtent) {
      return Unimplemented("heads of ", extent, " elements, more than ",
                           kMostExtent);
    }
  }
  if (shape.queries * shape.keys * shape.depth * shape.columns == 0) {
    return Unimplemented("there is nothing to add");
  }
  return shape;
}

struct Problem {
  AttentionShape shape;
  Tile tile;
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(AttentionShape shape, AnalyzeShape(node));
  const Tile tile = TileFor(node, shape, device);
  return Problem{std::move(shape), tile};
}

// Estimate of so many scores, whose products with values are for `columns` of
// these.
ir::ComputeEstimate EstimateOf(const ir::KernelNode& node, double scores,
                               int64_t depth, int64_t columns) {
  const AnchorView anchor(node);
  return {.flops = scores * (2.0 * depth + 2.0 * columns + 30),
          .bytes_read = InputBytes(anchor.view()),
          .bytes_written = OutputBytes(anchor.view())};
}

double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const auto& [shape, tile] = problem;
  const auto heads = static_cast<int64_t>(shape.heads.size());
  const int64_t items = heads * CeilDiv(shape.queries, tile.queries());
  const int64_t rounds = CeilDiv(items, device.compute_units);
  // Rows and columns beyond the operands are computed, too, and cores that have
  // no work-item wait.
  const double scores = static_cast<double>(rounds * device.compute_units) *
                        tile.queries() * AlignUp(shape.keys, tile.step());
  const ir::ComputeEstimate estimate = EstimateOf(
      node, scores, shape.depth, AlignUp(shape.columns, tile.step()));
  return EstimateMicroseconds(estimate, device, prices::kAttention);
}

ir::PackedConstant FirstElements(const AttentionShape& shape) {
  std::vector<int32_t> words;
  for (const AttentionShape::Head& head : shape.heads) {
    for (const int64_t first :
         {head.queries, head.keys, head.values, head.mask}) {
      words.push_back(static_cast<int32_t>(first));
    }
  }
  return PackedTable("first elements of heads", std::move(words));
}

// Adds the operands and options that both kernels have.
void AddOperands(const ir::KernelNode& node, const AttentionShape& shape,
                 Launch* launch) {
  if (node.attributes().Bool(kKeysByDepth)) launch->Option("-DKEYS_BY_DEPTH");
  launch->Input("queries", node, kQueries)
      .Input("keys", node, kKeys)
      .Input("values", node, kValues);
  if (node.has_input(kMask)) {
    launch->Option("-DMASK").Input("mask", node, kMask);
  }
  launch->Packed("firsts", FirstElements(shape), sizeof(int32_t))
      .Output("output", node, 0)
      .Int("query_count", shape.queries)
      .Int("key_count", shape.keys)
      .Int("depth", shape.depth)
      .Int("columns", shape.columns)
      .Int("mask_query_step", shape.mask_query_step)
      .Int("mask_key_step", shape.mask_key_step)
      .Float("scale", node.attributes().Float(kScoreScale));
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo&) {
  const auto& [shape, tile] = problem;
  const auto heads = static_cast<int64_t>(shape.heads.size());
  Launch launch("ops/attention/attention.cl", "attention");
  launch.Option(StrCat("-DROWS=", tile.rows))
      .Option(StrCat("-DWIDTH=", tile.width))
      .Option(StrCat("-DTILES=", node.many_shapes ? kMostTiles : tile.tiles))
      .Option(StrCat("-DDEPTH=", RoomFor(node, shape.depth, 16)))
      .Option(StrCat("-DCOLUMNS=", RoomFor(node, shape.columns, tile.step())));
  AddOperands(node, shape, &launch);
  return launch.Int("tiles", tile.tiles)
      .Global(CeilDiv(shape.queries, tile.queries()), heads)
      .Local(1)
      .Build();
}

// Of attention_simt.cl: items of a work-group, queries of one and keys at a
// time, and items of a query.
constexpr int64_t kGroup = 64;
constexpr int64_t kSimtTile = 16;
constexpr int64_t kPartsOfAQuery = 4;

// An extent of a tile in local memory.
int64_t SimtRoomFor(int64_t extent) {
  return RoomForMany(extent, kPartsOfAQuery);
}

Result<AttentionShape> AnalyzeSimt(const ir::KernelNode& node,
                                   const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_ASSIGN_OR_RETURN(AttentionShape shape, AnalyzeShape(node));
  const int64_t floats =
      kSimtTile * (2 * (SimtRoomFor(shape.depth) + 1) +
                   SimtRoomFor(shape.columns) + kSimtTile + 1);
  TIM_RETURN_IF_ERROR(
      CheckWorkGroup(device, {kGroup}, floats * int64_t{sizeof(float)}));
  return shape;
}

double CostSimt(const AttentionShape& shape, const ir::KernelNode& node,
                const ir::DeviceInfo& device) {
  const double scores = static_cast<double>(shape.heads.size()) *
                        AlignUp(shape.queries, kSimtTile) * shape.keys;
  const ir::ComputeEstimate estimate =
      EstimateOf(node, scores, shape.depth, shape.columns);
  return EstimateMicroseconds(estimate, device, prices::kAttentionSimt);
}

Result<ir::Lowering> LowerSimt(const AttentionShape& shape,
                               const ir::KernelNode& node,
                               const ir::DeviceInfo&) {
  Launch launch("ops/attention/attention_simt.cl", "attention_simt");
  launch.Option(StrCat("-DDEPTH=", SimtRoomFor(shape.depth)))
      .Option(StrCat("-DCOLUMNS=", SimtRoomFor(shape.columns)));
  AddOperands(node, shape, &launch);
  return launch
      .Global(CeilDiv(shape.queries, kSimtTile) * kGroup,
              static_cast<int64_t>(shape.heads.size()))
      .Local(kGroup)
      .Build();
}

}  // namespace

TIM_OPERATOR(attention_kernel) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.Attention",
                                        .name = "attention",
                                        .analyze = Analyze,
                                        .cost = Cost,
                                        .lower = Lower});
  registry.Add(ir::TypedKernel<AttentionShape>{.op = "tim.Attention",
                                               .name = "attention_simt",
                                               .analyze = AnalyzeSimt,
                                               .cost = CostSimt,
                                               .lower = LowerSimt});
}

}  // namespace tim::ops
