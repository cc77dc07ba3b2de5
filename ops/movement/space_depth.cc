// SpaceToDepth, DepthToSpace and Reorg: blocks of space to channels and back.
// Space2Batch and Batch2Space: the same with batches, and padding or cropping.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/data_layout.h"
#include "ops/movement/index_map.h"

namespace tim::ops {
namespace {

constexpr char kBlock[] = "block_size";
constexpr char kPad[] = "pad";
constexpr char kCrop[] = "crop";
constexpr char kLayout[] = "layout";

constexpr int kWidth = 0;
constexpr int kHeight = 1;
constexpr int kChannels = 2;
constexpr int kBatch = 3;  // of rank 4

Status CheckRank(const ir::Shape& input, int low, int high) {
  if (!input.ranked() || (input.rank() >= low && input.rank() <= high)) {
    return OkStatus();
  }
  return InvalidArgument("the input ", input.ToString(), " has rank ",
                         input.rank(), ", expected ",
                         low == high ? StrCat(low) : StrCat(low, " or ", high));
}

// Extents that are factors of what may be unknown.
Result<int64_t> Divide(const ir::Shape& input, int axis, int64_t extent,
                       int64_t by) {
  if (extent == ir::kUnknownDim) return ir::kUnknownDim;
  if (extent % by == 0) return extent / by;
  return InvalidArgument("the extent ", extent, " along axis ", axis,
                         " of the input ", input.ToString(),
                         " is not a multiple of ", by);
}
Result<int64_t> Multiply(int64_t extent, int64_t by) {
  if (extent == ir::kUnknownDim) return ir::kUnknownDim;
  const auto product = CheckedMul(extent, by);
  if (product) return *product;
  return InvalidArgument("an extent overflows 64 bits");
}

Status CheckBlock(int64_t block) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (block >= 1 && block <= kMost) return OkStatus();
  return InvalidArgument("attribute 'block_size' has ", block,
                         ", expected 1 or more");
}

// A block extent for each of `count` axes.
Status CheckBlocks(const std::vector<int64_t>& blocks, int count) {
  if (static_cast<int>(blocks.size()) < count) {
    return InvalidArgument("attribute 'block_size' has ", blocks.size(),
                           " values, expected ", count);
  }
  for (const int64_t block : blocks) TIM_RETURN_IF_ERROR(CheckBlock(block));
  return OkStatus();
}

// ---- SpaceToDepth, DepthToSpace ---------------------------------------------

Status InferSpaceToDepth(ir::InferContext& context) {
  const auto& blocks = context.attributes().Ints(kBlock);
  const ir::Shape& input = context.shape(0);
  TIM_RETURN_IF_ERROR(CheckRank(input, 4, 4));
  TIM_RETURN_IF_ERROR(CheckBlocks(blocks, 2));
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape::OfRank(4);
  if (!input.ranked()) return OkStatus();
  output = ir::Shape(input.dims());
  for (const int axis : {kWidth, kHeight}) {
    TIM_ASSIGN_OR_RETURN(const int64_t extent,
                         Divide(input, axis, input[axis], blocks[axis]));
    output.set_dim(axis, extent);
  }
  TIM_ASSIGN_OR_RETURN(
      const int64_t channels,
      Multiply(input[kChannels], blocks[kWidth] * blocks[kHeight]));
  output.set_dim(kChannels, channels);
  return OkStatus();
}

Result<std::vector<IndexMap>> SpaceToDepthMap(const ir::NodeView& view) {
  const auto& blocks = view.node.attributes.Ints(kBlock);
  IndexMap map(view, 0, 0);
  const int64_t channels = map.from[kChannels];
  int64_t place = channels;
  for (const int axis : {kWidth, kHeight}) {
    map.Loop(map.to[axis], axis, blocks[axis], axis, 1)
        .Loop(blocks[axis], axis, 1, kChannels, place);
    place *= blocks[axis];
  }
  map.Loop(channels, kChannels, 1, kChannels, 1)
      .Loop(map.from[kBatch], kBatch, 1, kBatch, 1);
  return std::vector{map};
}

Status InferDepthToSpace(ir::InferContext& context) {
  const int64_t block = context.attributes().Int(kBlock);
  const ir::Shape& input = context.shape(0);
  TIM_RETURN_IF_ERROR(CheckRank(input, 4, 4));
  TIM_RETURN_IF_ERROR(CheckBlock(block));
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape::OfRank(4);
  if (!input.ranked()) return OkStatus();
  output = ir::Shape(input.dims());
  for (const int axis : {kWidth, kHeight}) {
    TIM_ASSIGN_OR_RETURN(const int64_t extent, Multiply(input[axis], block));
    output.set_dim(axis, extent);
  }
  TIM_ASSIGN_OR_RETURN(
      const int64_t channels,
      Divide(input, kChannels, input[kChannels], block * block));
  output.set_dim(kChannels, channels);
  return OkStatus();
}

Result<std::vector<IndexMap>> DepthToSpaceMap(const ir::NodeView& view) {
  const int64_t block = view.node.attributes.Int(kBlock);
  const bool crd = view.node.attributes.Int("mode") != 0;
  IndexMap map(view, 0, 0);
  const int64_t channels = map.to[kChannels];
  int64_t place = crd ? 1 : channels;
  for (const int axis : {kWidth, kHeight}) {
    map.Loop(map.from[axis], axis, 1, axis, block)
        .Loop(block, kChannels, place, axis, 1);
    place *= block;
  }
  map.Loop(channels, kChannels, crd ? block * block : 1, kChannels, 1)
      .Loop(map.from[kBatch], kBatch, 1, kBatch, 1);
  return std::vector{map};
}

// ---- Space2Batch, Batch2Space -----------------------------------------------

// [W, H, C, N] or [W, C, N]: axes of space, and two counts for each of them.
int SpatialAxes(const ir::Shape& input) { return input.rank() - 2; }

Status CheckCounts(const ir::AttributeMap& attributes, const char* name,
                   int axes) {
  const auto& counts = attributes.Ints(name);
  if (static_cast<int>(counts.size()) < 2 * axes) {
    return InvalidArgument("attribute '", name, "' has ", counts.size(),
                           " values, expected ", 2 * axes);
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const bool legal =
      std::all_of(counts.begin(), counts.end(),
                  [](int64_t count) { return count >= 0 && count <= kMost; });
  if (legal) return OkStatus();
  return InvalidArgument("attribute '", name, "' [", StrJoin(counts, ", "),
                         "] has a negative count");
}

int64_t AddedTo(const std::vector<int64_t>& counts, int axis) {
  return counts[2 * axis] + counts[2 * axis + 1];
}

Status CheckBatched(const ir::InferContext& context, const char* counts) {
  const ir::Shape& input = context.shape(0);
  TIM_RETURN_IF_ERROR(CheckRank(input, 3, 4));
  const int axes = input.ranked() ? SpatialAxes(input) : 1;
  TIM_RETURN_IF_ERROR(CheckBlocks(context.attributes().Ints(kBlock), axes));
  return CheckCounts(context.attributes(), counts, axes);
}

Status InferSpace2Batch(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckBatched(context, kPad));
  const auto& blocks = context.attributes().Ints(kBlock);
  const auto& pad = context.attributes().Ints(kPad);
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) return OkStatus();
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape(input.dims());
  const int batch = input.rank() - 1;
  for (int axis = 0; axis < SpatialAxes(input); ++axis) {
    const int64_t padded = input[axis] == ir::kUnknownDim
                               ? ir::kUnknownDim
                               : input[axis] + AddedTo(pad, axis);
    TIM_ASSIGN_OR_RETURN(const int64_t extent,
                         Divide(input, axis, padded, blocks[axis]));
    output.set_dim(axis, extent);
    TIM_ASSIGN_OR_RETURN(const int64_t batches,
                         Multiply(output[batch], blocks[axis]));
    output.set_dim(batch, batches);
  }
  return OkStatus();
}

Result<std::vector<IndexMap>> Space2BatchMap(const ir::NodeView& view) {
  const auto& blocks = view.node.attributes.Ints(kBlock);
  const auto& pad = view.node.attributes.Ints(kPad);
  const ir::Shape& input = view.inputs[0]->shape;
  const int batch = input.rank() - 1;
  IndexMap map(view, 0, 0);
  int64_t place = input[batch];
  for (int axis = 0; axis < SpatialAxes(input); ++axis) {
    map.from_start[axis] = -pad[2 * axis];
    map.Loop(map.to[axis], axis, blocks[axis], axis, 1)
        .Loop(blocks[axis], axis, 1, batch, place);
    place *= blocks[axis];
  }
  for (const int axis : {batch - 1, batch}) {
    map.Loop(input[axis], axis, 1, axis, 1);
  }
  return std::vector{map};
}

Status InferBatch2Space(ir::InferContext& context) {
  TIM_RETURN_IF_ERROR(CheckBatched(context, kCrop));
  const auto& blocks = context.attributes().Ints(kBlock);
  const auto& crop = context.attributes().Ints(kCrop);
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) return OkStatus();
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape(input.dims());
  const int batch = input.rank() - 1;
  for (int axis = 0; axis < SpatialAxes(input); ++axis) {
    TIM_ASSIGN_OR_RETURN(const int64_t extent,
                         Multiply(input[axis], blocks[axis]));
    TIM_ASSIGN_OR_RETURN(const int64_t batches,
                         Divide(input, batch, output[batch], blocks[axis]));
    output.set_dim(batch, batches);
    output.set_dim(axis, extent);
    if (extent == ir::kUnknownDim) continue;
    output.set_dim(axis, extent - AddedTo(crop, axis));
    if (output[axis] >= 1) continue;
    return InvalidArgument("attribute 'crop' [", StrJoin(crop, ", "),
                           "] leaves nothing of the extent ", extent,
                           " along axis ", axis);
  }
  return OkStatus();
}

Result<std::vector<IndexMap>> Batch2SpaceMap(const ir::NodeView& view) {
  const auto& blocks = view.node.attributes.Ints(kBlock);
  const auto& crop = view.node.attributes.Ints(kCrop);
  const ir::Shape& input = view.inputs[0]->shape;
  const int batch = input.rank() - 1;
  IndexMap map(view, 0, 0);
  int64_t place = map.to[batch];
  for (int axis = 0; axis < SpatialAxes(input); ++axis) {
    map.to_start[axis] = -crop[2 * axis];
    map.Loop(input[axis], axis, 1, axis, blocks[axis])
        .Loop(blocks[axis], batch, place, axis, 1);
    place *= blocks[axis];
  }
  for (const int axis : {batch - 1, batch}) {
    map.Loop(map.to[axis], axis, 1, axis, 1);
  }
  return std::vector{map};
}

// ---- Reorg ------------------------------------------------------------------

Status InferReorg(ir::InferContext& context) {
  const int64_t stride = context.attributes().Int("stride");
  const ir::Shape& input = context.shape(0);
  constexpr int64_t kMost = std::numeric_limits<int16_t>::max();
  if (stride < 1 || stride > kMost) {
    return InvalidArgument("attribute 'stride' is ", stride, ", expected 1 to ",
                           kMost);
  }
  TIM_RETURN_IF_ERROR(CheckRank(input, 4, 4));
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape::OfRank(4);
  if (!input.ranked()) return OkStatus();
  output = ir::Shape(input.dims());
  for (const int axis : {kWidth, kHeight}) {
    TIM_ASSIGN_OR_RETURN(const int64_t extent,
                         Divide(input, axis, input[axis], stride));
    output.set_dim(axis, extent);
  }
  const int64_t channels = input[kChannels];
  if (channels != ir::kUnknownDim && channels < stride * stride) {
    return InvalidArgument("the input ", input.ToString(), " has ", channels,
                           " channels, expected at least the square of the "
                           "stride, ",
                           stride * stride);
  }
  TIM_ASSIGN_OR_RETURN(const int64_t more, Multiply(channels, stride * stride));
  output.set_dim(kChannels, more);
  return OkStatus();
}

// Of a batch, with planes = C / stride^2 and channel k = (y * stride + x) *
// planes + plane, flat:
//   output[i + W * (j + H * k)]
//       = input[i * s + x + W * s * (j * s + y + H * s * plane)].
Result<std::vector<IndexMap>> ReorgMaps(const ir::NodeView& view) {
  const ir::Shape& input = view.inputs[0]->shape;
  const int64_t s = view.node.attributes.Int("stride");
  const int64_t row = input[kWidth];
  const int64_t plane = row * input[kHeight];
  const int64_t channels = input[kChannels];
  const int64_t planes = channels / (s * s);
  IndexMap flat(view, 0, 0);
  flat.from = flat.to = {plane * channels, input[kBatch]};
  flat.from_start = flat.to_start = {0, 0};
  flat.Loop(row, 0, s, 0, 1)
      .Loop(input[kHeight], 0, row * s * s, 0, row)
      .Loop(input[kBatch], 1, 1, 1, 1);
  std::vector<IndexMap> maps;
  const auto add = [&](int64_t first, int64_t ys, int64_t xs, int64_t count) {
    if (ys * xs * count == 0) return;
    IndexMap& map = maps.emplace_back(flat);
    map.from_start[0] = first % s + first / s * row * s;
    map.to_start[0] = first * planes * plane;
    map.Loop(xs, 0, 1, 0, planes * plane)
        .Loop(ys, 0, row * s, 0, s * planes * plane)
        .Loop(count, 0, plane * s * s, 0, plane);
  };
  // Without a remainder the first is all.
  const int64_t offsets = channels / planes;
  add(0, offsets / s, s, planes);
  add(offsets / s * s, 1, offsets % s, planes);
  add(offsets, 1, 1, channels % planes);
  return maps;
}

// ---- layouts ----------------------------------------------------------------

Result<ir::PermutedNode> InDefaultLayout(const ir::NodeView& view) {
  if (view.inputs[0]->shape.rank() != 4) return ir::UnpermutedNode(view);
  return DataLayoutRule(kLayout)(view);
}

// An operator with the attributes `own` and a layout.
void Add(ir::OpRegistry& registry, const char* name,
         std::vector<ir::AttributeSpec> own,
         std::function<Status(ir::InferContext&)> infer, const IndexMaps& maps,
         int surplus_inputs = 0) {
  own.push_back(DataLayoutSpec(kLayout, DataLayout::kWhcn));
  ir::OpSchema schema =
      IndexMapSchema(name, std::move(own), std::move(infer), maps);
  schema.surplus_inputs = surplus_inputs;
  schema.layout_rule = InDefaultLayout;
  registry.Add(std::move(schema));
  registry.Add(IndexMapKernel(name, maps));
}

ir::AttributeSpec Ints(const char* name) {
  return {.name = name, .type = ir::AttributeType::kInts};
}

}  // namespace

TIM_OPERATOR(space_depth) {
  Add(registry, "SpaceToDepth", {Ints(kBlock)}, InferSpaceToDepth,
      SpaceToDepthMap);
  Add(registry, "DepthToSpace",
      {{.name = kBlock},
       {"mode", ir::AttributeType::kInt, int64_t{0}, {{"dcr", 0}, {"crd", 1}}}},
      InferDepthToSpace, DepthToSpaceMap);
  constexpr int kBlocksAndEnds = 2;  // TFLite: block_shape, paddings or crops
  Add(registry, "Space2Batch", {Ints(kBlock), Ints(kPad)}, InferSpace2Batch,
      Space2BatchMap, kBlocksAndEnds);
  Add(registry, "Batch2Space", {Ints(kBlock), Ints(kCrop)}, InferBatch2Space,
      Batch2SpaceMap, kBlocksAndEnds);
  registry.Add(
      IndexMapSchema("Reorg", {{.name = "stride"}}, InferReorg, ReorgMaps));
  registry.Add(IndexMapKernel("Reorg", ReorgMaps));
}

}  // namespace tim::ops
