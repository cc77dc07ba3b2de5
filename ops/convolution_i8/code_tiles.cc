#include "ops/convolution_i8/code_tiles.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/nchw16c.h"
#include "ops/elements/byte_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"
#include "ops/launch/matrix_tile.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

// Pixels of a row that are copied to the stack, 16 bytes each.
constexpr int64_t kMaxSpan = 256;
// Pixels of 64 bytes, likewise.
constexpr int64_t kMaxMatrixSpan = 64;
// Channels whose products are summed at once.
constexpr int64_t kDotChannels = 4;

// A tile of several groups would read the channels of all.
int64_t MostBlocks(const Conv2dShape& shape) {
  const bool groups = shape.group.channels != shape.channels;
  return groups ? std::max<int64_t>(1, shape.group.outputs / kChannelBlock)
                : CeilDiv(shape.group.out_channels, kChannelBlock);
}

void AddTiles(const Conv2dShape& shape, const CodeTiles& tiling, bool centered,
              Launch* launch) {
  launch->Option(StrCat("-DTW=", tiling.width))
      .Option(StrCat("-DROWS=", tiling.rows))
      .Option(StrCat("-DBLOCKS=", tiling.blocks))
      .Option(StrCat("-DSTRIDE=", shape.w.stride))
      .Option(StrCat("-DDEPTH=", tiling.ic_block / kDotChannels))
      .Option(StrCat("-DSPAN=", tiling.span));
  if (tiling.part > 0) launch->Option(StrCat("-DPART=", tiling.part));
  AddCommonKernel(shape, launch);
  const int64_t rest = CeilDiv(shape.channels % tiling.ic_block, kDotChannels);
  const bool one_group = shape.group.channels == shape.channels;
  // Sums of pixels go over whole blocks.
  if (rest != 0 && rest < tiling.ic_block / kDotChannels && one_group &&
      centered) {
    launch->Option(StrCat("-DREST=", rest));
  }
}

Result<CodeOperands> OperandsOf(const ir::KernelNode& node,
                                const Conv2dShape& shape,
                                const PackedCodes& packed,
                                const VariableCodes& codes,
                                ir::Lowering* lowering) {
  const ByteWeights weights = ByteWeightsOf(shape);
  const bool constant = node.constants[1] != nullptr;
  const ByteShifts shifts =
      constant ? ByteShiftsOf(node, weights) : ByteShifts{};
  CodeOperands out;
  out.centered = constant ? shifts.centered : IsCentered(node.inputs[1]);
  if (HasConstantCodes(node)) {
    out.channels.constant = ByteTable(node, weights, shifts);
  } else {
    TIM_ASSIGN_OR_RETURN(out.channels,
                         VariableTable(node, weights, shifts, codes,
                                       CodeZeros::kOfWeights, lowering));
  }
  if (constant) {
    out.weights.constant = PackedCodeWeights(node, shape, packed, shifts);
  } else {
    TIM_ASSIGN_OR_RETURN(
        out.weights, VariableWeights(node, shape, packed, codes, out.channels,
                                     PackingItems::kVectors, lowering));
  }
  return out;
}

// Cycles of a step of a tile of AMX: the columns are loaded, and a product
// waits 52 cycles for the one before.
int64_t CyclesOfStep(int64_t pixels, int64_t blocks) {
  return kMatrixRows * blocks + std::max<int64_t>(pixels * blocks, 52);
}

// Time of such a step for each of its sums, over that in the largest tile.
double RelativeStep(int64_t pixels, int64_t blocks) {
  const auto of_sum = [](int64_t rows, int64_t columns) {
    return static_cast<double>(CyclesOfStep(rows, columns)) /
           static_cast<double>(rows * columns);
  };
  return of_sum(pixels, blocks) / of_sum(2 * kMatrixRows, 2);
}

// Flops of all tiles, lanes and pixels beyond the tensor included; with tiles
// of AMX those that the largest ones make in the time of these.
double FlopsOf(const Conv2dShape& shape, const CodeTiles& tiling) {
  const PackedCodes& packed = tiling.packed;
  const int64_t rows = packed.read_blocks * shape.h.kernel;
  double terms = static_cast<double>(rows * shape.w.kernel * packed.ic_block);
  if (tiling.part > 0) {
    const bool words = packed.ic_block == kDotChannels;
    const int64_t steps = rows * (words ? 1 : shape.w.kernel);
    terms = (static_cast<double>(steps) + kMatrixSteps) * kMatrixDepth *
            RelativeStep(tiling.width * tiling.rows, tiling.blocks);
  }
  return 2.0 * terms * static_cast<double>(packed.tiles * packed.lanes) *
         AlignUp(shape.w.output, tiling.width) *
         AlignUp(shape.h.output, tiling.rows) * shape.batch;
}

CodeTiles DotTilesOf(const Conv2dShape& shape, const ir::Layout& input,
                     bool many_shapes, const ir::DeviceInfo& device) {
  const int64_t blocks = MostBlocks(shape);
  const RegisterTile tile =
      TileFor(shape.w.output, blocks, many_shapes, device);
  CodeTiles out;
  out.width = tile.neighbours;
  out.blocks = tile.blocks;
  if (!many_shapes) {
    const int64_t limit = BestTile(shape.w.output, blocks, device).neighbours;
    const int64_t max_rows = 2 * out.width <= limit ? 2 : 1;
    out.rows = TileSize(shape.h.output, max_rows, out.width);
  }
  out.ic_block = input.blocked() ? kChannelBlock : kDotChannels;
  // Whole vectors of 64 bytes.
  const auto span = [&](int64_t width) {
    return AlignUp(SpanOf(shape.w, width), 64 / out.ic_block);
  };
  if (many_shapes) out.width = FewTileSizesWithin(out.width, kMaxSpan, span);
  out.span = span(out.width);
  out.packed = PackedCodesOf(shape, out.blocks * kChannelBlock, out.ic_block);
  return out;
}

// The sums of a tile are those of two tiles of pixels, where there are as many,
// times two of channels.  Graphs of many shapes have few sizes.
CodeTiles MatrixTilesOf(const Conv2dShape& shape, const ir::Layout& input,
                        bool many_shapes) {
  CodeTiles out;
  out.blocks = std::min<int64_t>(2, MostBlocks(shape));
  out.ic_block = input.blocked() ? kMatrixDepth : kDotChannels;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](int64_t part, int64_t columns, int64_t rows) {
    const int64_t width = part * columns;
    if (width > shape.w.output || rows > shape.h.output) return;
    const double time =
        static_cast<double>(CeilDiv(shape.w.output, width) *
                            CeilDiv(shape.h.output, rows)) *
        static_cast<double>(CyclesOfStep(part * columns * rows, out.blocks));
    if (time >= least) return;
    least = time;
    out.width = width;
    out.rows = rows;
    out.part = part;
  };
  if (many_shapes) {
    const int64_t width = FewTileSizes(shape.w.output, 2 * kMatrixRows);
    const int64_t part = std::min(width, kMatrixRows);
    consider(part, width / part, 1);
  } else {
    for (int64_t part = kMatrixRows; part >= 1; --part) {
      consider(part, 2, 1);
      consider(part, 1, 2);
      consider(part, 1, 1);
    }
  }
  out.span = SpanOf(shape.w, out.width);
  if (!input.blocked()) out.span = AlignUp(out.span, 64 / kDotChannels);
  out.packed = PackedCodesOf(shape, out.blocks * kChannelBlock, out.ic_block);
  return out;
}

const Price& PriceOf(const CodeTiles& tiling, const ir::DeviceInfo& device) {
  if (tiling.part > 0) return prices::kConv2dNchw16cI8Amx;
  if (tiling.ic_block == kChannelBlock) {
    return device.has_vnni ? prices::kConv2dNchw16cI8Vnni
                           : prices::kConv2dNchw16cI8;
  }
  return device.has_vnni ? prices::kConv2dNchw16cI8DenseVnni
                         : prices::kConv2dNchw16cI8Dense;
}

}  // namespace

CodeTiles CodeTilesOf(const Conv2dShape& shape, const ir::Layout& input,
                      bool many_shapes, const ir::DeviceInfo& device) {
  const CodeTiles dots = DotTilesOf(shape, input, many_shapes, device);
  const bool whole_rows =
      shape.w.kernel <= kMatrixRows && shape.w.dilation <= 1;
  if (!device.has_amx || !(input.blocked() || whole_rows)) return dots;
  const CodeTiles matrices = MatrixTilesOf(shape, input, many_shapes);
  if (!CheckSpan(matrices).ok()) return dots;
  const auto time = [&](const CodeTiles& tiling) {
    return FlopsOf(shape, tiling) / PriceOf(tiling, device).cpu.compute;
  };
  return time(matrices) < time(dots) ? matrices : dots;
}

Status CheckSpan(const CodeTiles& tiles) {
  const int64_t most =
      tiles.ic_block == kMatrixDepth ? kMaxMatrixSpan : kMaxSpan;
  if (tiles.rows * tiles.span <= most) return OkStatus();
  return Unimplemented("a tile spans ", tiles.rows * tiles.span,
                       " input pixels, at most ", most, " are kept");
}

double CodeTilesCost(const ir::KernelNode& node, const Conv2dShape& shape,
                     const ir::DeviceInfo& device) {
  const CodeTiles tiling =
      CodeTilesOf(shape, node.inputs[0].layout, node.many_shapes, device);
  const AnchorView view(node);
  ir::ComputeEstimate estimate = SumEstimate(view.view(), 0);
  estimate.flops = FlopsOf(shape, tiling);
  return EstimateMicroseconds(estimate, device, PriceOf(tiling, device)) +
         PackingCost(node, 1, static_cast<double>(tiling.packed.bytes(shape)),
                     device);
}

Status ConvolveCodes(const ir::KernelNode& node, const Conv2dShape& shape,
                     const std::optional<OutputPhases>& phases,
                     const VariableCodes& codes, const CodeEpilogue& epilogue,
                     const ir::DeviceInfo& device, ir::Lowering* lowering) {
  const CodeTiles tiling =
      CodeTilesOf(shape, node.inputs[0].layout, node.many_shapes, device);
  TIM_ASSIGN_OR_RETURN(CodeOperands operands,
                       OperandsOf(node, shape, tiling.packed, codes, lowering));
  const int64_t tiles = CeilDiv(shape.w.output, tiling.width) *
                        CeilDiv(shape.h.output, tiling.rows);
  const int64_t planes = tiling.packed.tiles * shape.batch;
  const int64_t run = TilesPerItem(tiles, planes, device);
  Launch launch("ops/convolution_i8/conv2d_nchw16c_i8.cl", "conv2d_nchw16c_i8");
  if (IsTotal(node)) {
    AddTotalOptions(node, operands.centered, device, &launch);
  } else {
    AddByteOptions(node, operands.centered, device, &launch);
  }
  AddTiles(shape, tiling, operands.centered, &launch);
  launch.Input("input", node, 0);
  AddPacked("weights", std::move(operands.weights), sizeof(int32_t), &launch);
  AddPacked("channels", std::move(operands.channels), sizeof(int32_t), &launch);
  launch.Int("input_zero", UnsignedZero(node.inputs[0]));
  if (IsTotal(node)) {
    launch.Output("output", node, 0);
  } else {
    AddCodeEpilogue(node, epilogue, &launch);
  }
  launch.Struct("sizes", ConvSizes(shape))
      .Int("in_blocks", tiling.packed.in_blocks)
      .Int("read_blocks", tiling.packed.read_blocks)
      .Int("tiles", tiling.packed.tiles);
  if (phases) {
    launch.Option("-DPHASES")
        .Struct("phases", {{"w", phases->w},
                           {"h", phases->h},
                           {"out_w", phases->out_w},
                           {"out_h", phases->out_h},
                           {"out_channels", phases->out_channels}});
  }
  launch.Int("run", run)
      .Global(CeilDiv(tiles, run), 1, planes)
      .Local(1, 1, 1)
      .PartitionSpatially(tiling.packed.bytes(shape) <=
                          kWeightsPerPixel * InputElements(shape));
  return launch.AppendTo(lowering);
}

}  // namespace tim::ops
