// Float32 transposed convolution on tensors in blocks of 16 channels, for CPUs:
// stride_w * stride_h convolutions of stride 1, one for each phase of the
// output, in register tiles as conv2d_nchw16c's.
#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/nchw16c.h"
#include "ops/deconvolution/deconv_node.h"
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

// Pixels of a row that are copied to the stack, 64 bytes each.
constexpr int64_t kMaxSpan = 128;

// The sizes of one launch; see deconv_nchw16c.cl.
struct Tiling {
  int64_t width = 1;   // TW
  int64_t blocks = 1;  // BLOCKS
  int64_t span = 1;    // SPAN
  PackedTile packed = {};
};

// Pixels of a row of the phase that has most.
int64_t Columns(const ConvAxis& axis) {
  return CeilDiv(axis.output, axis.stride);
}

Tiling TilingOf(const Conv2dShape& shape, bool many_shapes,
                const ir::DeviceInfo& device) {
  const int64_t fewest = std::max<int64_t>(shape.w.output / shape.w.stride, 1);
  const RegisterTile limits = TileOfGroup(shape, [&](int64_t blocks) {
    return TileFor(fewest, blocks, many_shapes, device);
  });
  Tiling out;
  out.width = limits.neighbours;
  out.blocks = limits.blocks;
  // Rounded, so that kernels of many sizes share a program.
  const auto span = [&](int64_t width) {
    return AlignUp(width - 1 + CeilDiv(shape.w.kernel, shape.w.stride), 4);
  };
  if (many_shapes) out.width = FewTileSizesWithin(out.width, kMaxSpan, span);
  out.span = span(out.width);
  out.packed = {.lanes = out.blocks * kChannelBlock,
                .ic_block = kChannelBlock,
                .phases = shape.w.stride};
  return out;
}

struct Problem {
  Conv2dShape shape;
  Epilogue epilogue;
  Tiling tiling;
};

Result<Problem> Analyze(const ir::KernelNode& node,
                        const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, TransposedShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, BlockedEpilogueOf(node));
  TIM_RETURN_IF_ERROR(CheckGroupsOfBlocks(shape));
  TIM_RETURN_IF_ERROR(CheckTransposedSizes(node, shape));
  const Tiling tiling = TilingOf(shape, node.many_shapes, device);
  if (tiling.span > kMaxSpan) {
    return Unimplemented("a tile spans ", tiling.span,
                         " input pixels, at most ", kMaxSpan, " are kept");
  }
  return Problem{shape, epilogue, tiling};
}

double Cost(const Problem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const auto& [shape, epilogue, tiling] = problem;
  ir::ComputeEstimate estimate = SumEstimate(AnchorView(node).view(), 0);
  // Every tap belongs to one phase.  Lanes and pixels beyond the tensor, and
  // rows that read outside of the input, included.
  estimate.flops = 2.0 * static_cast<double>(tiling.packed.elements(shape)) *
                   AlignUp(Columns(shape.w), tiling.width) * Columns(shape.h) *
                   shape.batch;
  return EstimateMicroseconds(estimate, device, prices::kDeconvNchw16c) +
         WeightsPackingCost(node, 1, shape, tiling.packed, device);
}

Result<ir::Lowering> Lower(const Problem& problem, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue, tiling] = problem;
  const int64_t channel_tiles = tiling.packed.tiles(shape);
  const int64_t tiles =
      CeilDiv(Columns(shape.w), tiling.width) * Columns(shape.h);
  const int64_t run =
      TilesPerItem(tiles, shape.h.stride * channel_tiles * shape.batch, device);
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(PackedOperand weights,
                       PackWeights(node, 1, shape, tiling.packed, &lowering));
  Launch launch("ops/deconvolution/deconv_nchw16c.cl", "deconv_nchw16c");
  launch.Option(StrCat("-DTW=", tiling.width))
      .Option(StrCat("-DBLOCKS=", tiling.blocks))
      .Option(StrCat("-DSPAN=", tiling.span))
      .Input("input", node, 0);
  AddPacked("weights", std::move(weights), sizeof(float), &launch);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  launch.Struct("sizes", ConvSizes(shape))
      .Int("in_blocks", tiling.packed.in_blocks(shape))
      .Int("tiles", channel_tiles)
      .Int("run", run)
      .Global(CeilDiv(tiles, run), shape.h.stride, channel_tiles * shape.batch)
      .PartitionSpatially(tiling.packed.elements(shape) <=
                          kWeightsPerPixel * InputElements(shape))
      .Local(1, 1, 1);
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(deconv_nchw16c) {
  registry.Add(ir::TypedKernel<Problem>{.op = "tim.DeConv2d",
                                        .name = "deconv_nchw16c",
                                        .takes_epilogue = true,
                                        .analyze = Analyze,
                                        .layouts = LayoutsInBlocks<Problem>,
                                        .cost = Cost,
                                        .lower = Lower});
}

}  // namespace tim::ops
