// Direct float32 convolution on tensors in blocks of 16 channels, for CPUs: a
// tile of neighbouring pixels times 16 to 48 channels stays in vector
// registers.
#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/nchw16c.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

// Floats of the rows of a tile that are copied to the stack.
constexpr int64_t kMostCopied = 2048;
// A dense input of fewer channels is read without blocks.
constexpr int64_t kFewChannels = 16;

// KEPT: tiles whose sums stay in the first cache, 1.75 KiB each for AVX-512.
constexpr int64_t kMaxKept = 8;
// Weights that stay in the second cache beside an image while the kept tiles
// use them: so many that loading and storing the sums costs little.
constexpr int64_t kChunkFloats = int64_t{1} << 13;

// The sizes of one launch; see conv2d_nchw16c.cl.
struct Tiling {
  int64_t width = 1;     // TW
  int64_t rows = 1;      // ROWS
  int64_t blocks = 1;    // BLOCKS
  int64_t ic_block = 1;  // IC_BLOCK
  int64_t span = 1;      // SPAN
  bool direct = false;   // DIRECT
  int64_t in_blocks = 1;
  int64_t tiles = 1;  // of output channels

  // Of one input block for one tile of output channels.
  int64_t block_weights(const Conv2dShape& shape) const {
    return shape.h.kernel * shape.w.kernel * ic_block * blocks * kChannelBlock;
  }
  PackedTile packed() const { return {blocks * kChannelBlock, ic_block}; }
  int64_t most_span() const { return kMostCopied / ic_block; }
  bool fits() const { return direct || rows * span <= most_span(); }
};

// Width, rows and blocks: for many shapes of the input the same.
void FitTile(const Conv2dShape& shape, bool many_shapes,
             const ir::DeviceInfo& device, Tiling* out) {
  const auto limits_of = [&](int64_t blocks) {
    if (!many_shapes) return BestTile(shape.w.output, blocks, device);
    RegisterTile largest = LargestTile(device);
    largest.blocks = std::min(largest.blocks, blocks);
    return largest;
  };
  const RegisterTile limits = TileOfGroup(shape, limits_of);
  out->blocks = limits.blocks;
  if (many_shapes) {
    out->width = limits.neighbours;
    out->rows = 1;
    return;
  }
  out->width = TileSize(shape.w.output, limits.neighbours);
  const int64_t max_rows = 2 * out->width <= limits.neighbours ? 2 : 1;
  out->rows = TileSize(shape.h.output, max_rows, out->width);
}

Tiling TilingOf(const Conv2dShape& shape, const ir::Layout& input,
                bool many_shapes, const ir::DeviceInfo& device) {
  Tiling out;
  FitTile(shape, many_shapes, device, &out);
  out.ic_block = input.blocked() ? kChannelBlock : 1;
  // Rounded, so that 1x1 and 3x3 kernels share a program.
  const auto span = [&](int64_t width) {
    return AlignUp(SpanOf(shape.w, width), 4);
  };
  // One that is read where it is has any span.
  if (many_shapes && !ReadsInsideOnly(shape.w)) {
    out.width = FewTileSizesWithin(out.width, out.most_span(), span);
  }
  out.span = span(out.width);
  // Of two rows, one may lie outside alone; so may pixels of a tile for many
  // shapes that is wider than the output.
  out.direct = ReadsInsideOnly(shape.w) && out.width <= shape.w.output &&
               (out.rows == 1 || ReadsInsideOnly(shape.h));
  out.in_blocks = out.packed().in_blocks(shape);
  out.tiles = out.packed().tiles(shape);
  return out;
}

// Layouts of the input that the kernel reads.
std::vector<ir::Layout> InputLayouts(const Conv2dShape& shape) {
  if (shape.channels >= kFewChannels) return {ChannelBlocks()};
  return {ir::Layout::Dense(), ChannelBlocks()};
}

// The problem of a flat convolution.
Result<ConvProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(ConvProblem problem, BlockedGroupsOf(node));
  problem.shape = Flatten(problem.shape);
  // The first layout copies the fewest channels.
  const Tiling tiling =
      TilingOf(problem.shape, InputLayouts(problem.shape).front(),
               node.many_shapes, device);
  if (tiling.fits()) return problem;
  return Unimplemented("a tile spans ", tiling.rows * tiling.span,
                       " input pixels, at most ", tiling.most_span(),
                       " are kept");
}

std::vector<ir::LayoutTuple> Layouts(const ConvProblem& problem,
                                     const ir::KernelNode& node,
                                     const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  std::vector<ir::LayoutTuple> out;
  for (const ir::Layout& input : InputLayouts(shape)) {
    if (!TilingOf(shape, input, node.many_shapes, device).fits()) continue;
    out.push_back(BlockedConv2dLayouts(node, epilogue.residual));
    out.back().inputs[0] = input;
  }
  return out;
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const Conv2dShape& shape = problem.shape;
  const Tiling tiling =
      TilingOf(shape, node.inputs[0].layout, node.many_shapes, device);
  const AnchorView view(node);
  ir::ComputeEstimate estimate = SumEstimate(view.view(), 0);
  // Lanes and pixels beyond the tensor included.  Input channels that do not
  // exist are not multiplied, but their block is copied and looped over: three
  // channels are better read dense.
  estimate.flops = 2.0 * tiling.packed().elements(shape) *
                   AlignUp(shape.w.output, tiling.width) *
                   AlignUp(shape.h.output, tiling.rows) * shape.batch;
  return EstimateMicroseconds(estimate, device,
                              node.inputs[0].layout.blocked()
                                  ? prices::kConv2dNchw16c
                                  : prices::kConv2dNchw16cDense) +
         WeightsPackingCost(node, 1, shape, tiling.packed(), device);
}

// How the tiles of an image become work-items; see conv2d_nchw16c.cl.
struct Sharing {
  int64_t run = 1;
  int64_t items = 1;  // dimension 0
  int64_t chunk = 1;
  bool spatial_partition = true;  // KernelLaunch::spatial_partition
};

// Where there are more weights than pixels, an item goes through its own once,
// all of its tiles together.  Where there are many more, cores share the
// weights, otherwise the pixels.
Sharing SharingOf(const Conv2dShape& shape, const Tiling& tiling,
                  const ir::DeviceInfo& device) {
  const int64_t planes = tiling.tiles * shape.batch;
  const int64_t tiles = CeilDiv(shape.w.output, tiling.width) *
                        CeilDiv(shape.h.output, tiling.rows);
  const int64_t weights = tiling.packed().elements(shape);
  const int64_t pixels = InputElements(shape);
  const int64_t chunk = std::clamp<int64_t>(
      kChunkFloats / tiling.block_weights(shape), 1, tiling.in_blocks);
  const int64_t least_items = int64_t{4} * device.compute_units;
  const int64_t most =
      std::min({kMaxKept, tiles, tiles * planes / least_items});
  Sharing out;
  out.spatial_partition = weights <= kWeightsPerPixel * pixels;
  if (weights > pixels && most >= 2 && chunk < tiling.in_blocks) {
    out.chunk = chunk;
    out.run = CeilDiv(tiles, CeilDiv(tiles, most));
  } else {
    out.chunk = tiling.in_blocks;
    out.run = TilesPerItem(tiles, planes, device);
  }
  out.items = CeilDiv(tiles, out.run);
  return out;
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  const Tiling tiling =
      TilingOf(shape, node.inputs[0].layout, node.many_shapes, device);
  const Sharing sharing = SharingOf(shape, tiling, device);
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(PackedOperand weights,
                       PackWeights(node, 1, shape, tiling.packed(), &lowering));
  Launch launch("ops/convolution/conv2d_nchw16c.cl", "conv2d_nchw16c");
  launch.Option(StrCat("-DTW=", tiling.width))
      .Option(StrCat("-DROWS=", tiling.rows))
      .Option(StrCat("-DBLOCKS=", tiling.blocks))
      .Option(StrCat("-DSTRIDE=", shape.w.stride))
      .Option(StrCat("-DIC_BLOCK=", tiling.ic_block))
      .Option(StrCat("-DKEPT=", kMaxKept))
      .Option(tiling.direct ? "-DDIRECT" : StrCat("-DSPAN=", tiling.span));
  AddCommonKernel(shape, &launch);
  if (const int64_t rest = shape.channels % tiling.ic_block; rest != 0) {
    launch.Option(StrCat("-DREST=", rest));
  }
  launch.Input("input", node, 0);
  AddPacked("weights", std::move(weights), sizeof(float), &launch);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  launch.Struct("sizes", ConvSizes(shape))
      .Int("in_blocks", tiling.in_blocks)
      .Int("tiles", tiling.tiles)
      .Int("run", sharing.run)
      .Int("chunk", sharing.chunk)
      .Global(sharing.items, 1, tiling.tiles * shape.batch)
      .PartitionSpatially(sharing.spatial_partition)
      .Local(1, 1, 1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_nchw16c) {
  registry.Add(ir::TypedKernel<ConvProblem>{.op = "tim.Conv2d",
                                            .name = "conv2d_nchw16c",
                                            .takes_epilogue = true,
                                            .analyze = Analyze,
                                            .layouts = Layouts,
                                            .cost = Cost,
                                            .lower = Lower});
}

}  // namespace tim::ops
