// Weights, sizes and tiles of the convolutions in blocks of 16 channels.
#include "ops/convolution/nchw16c.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "base/str_cat.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/blocked.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

constexpr int64_t kMaxSpan = 64;

// Where tap `kw` of a row of `kernel` stands.
int64_t PlaceOf(int64_t kw, int64_t kernel, int64_t phases) {
  const int64_t phase = kw % phases;
  return phase * (kernel / phases) + std::min(phase, kernel % phases) +
         kw / phases;
}

bool HasGroups(const Conv2dShape& shape) {
  return shape.group.channels != shape.channels;
}

// visit(index, place) of every weight.
template <typename Visit>
void ForEachWeight(const Conv2dShape& shape, const PackedTile& tile,
                   const Visit& visit) {
  const int64_t channels = shape.group.channels;
  const int64_t in_blocks = tile.in_blocks(shape);
  const int64_t taps = shape.h.kernel * shape.w.kernel;
  for (int64_t oc = 0; oc < shape.group.out_channels; ++oc) {
    for (int64_t ic = 0; ic < channels; ++ic) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t block = oc / tile.lanes * in_blocks + ic / tile.ic_block;
        const int64_t kw = tap % shape.w.kernel;
        const int64_t place =
            tap - kw + PlaceOf(kw, shape.w.kernel, tile.phases);
        const int64_t row =
            (block * taps + place) * tile.ic_block + ic % tile.ic_block;
        visit((oc * channels + ic) * taps + tap,
              row * tile.lanes + oc % tile.lanes);
      }
    }
  }
}

// All floats of packed taps, those of channels that do not exist included.
int64_t TapFloats(const Conv2dShape& shape) {
  return AlignUp(shape.channels, kChannelBlock) * shape.group.channels *
         shape.w.kernel * shape.h.kernel;
}

template <typename Visit>
void ForEachTap(const Conv2dShape& shape, const Visit& visit) {
  const int64_t width = shape.w.kernel;
  const int64_t height = shape.h.kernel;
  const int64_t group = shape.group.channels;
  for (int64_t oc = 0; oc < shape.channels; ++oc) {
    for (int64_t ic = 0; ic < group; ++ic) {
      for (int64_t kh = 0; kh < height; ++kh) {
        for (int64_t kw = 0; kw < width; ++kw) {
          const int64_t row = (oc / kChannelBlock * height + kh) * group + ic;
          visit(((oc * group + ic) * height + kh) * width + kw,
                (row * width + kw) * kChannelBlock + oc % kChannelBlock);
        }
      }
    }
  }
}

}  // namespace

Result<Epilogue> BlockedEpilogueOf(const ir::KernelNode& node, ByChannel by) {
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  if (node.outputs[0].shape.rank() != 4) {
    return Unimplemented("the output has rank ", node.outputs[0].shape.rank(),
                         ", expected 4");
  }
  TIM_ASSIGN_OR_RETURN(
      const Epilogue epilogue,
      EpilogueOf(node, kConvChannelAxis, Residual::kTaken, by));
  // Blocks make both tensors and the weights at most 32 times larger.
  for (const ir::TensorDesc* desc :
       {&node.inputs[0], &node.inputs[1], &node.outputs[0]}) {
    if (desc->shape.NumElements().value_or(0) > (int64_t{1} << 26)) {
      return Unimplemented(desc->shape.ToString(),
                           " is too large for 32-bit positions");
    }
  }
  return epilogue;
}

// A block of several groups would multiply channels of others by 0, which an
// infinity does not survive.
Status CheckGroupsOfBlocks(const Conv2dShape& shape) {
  if (!HasGroups(shape) || (shape.group.channels % kChannelBlock == 0 &&
                            shape.group.outputs % kChannelBlock == 0)) {
    return OkStatus();
  }
  return Unimplemented("several groups of ", shape.group.channels, " and ",
                       shape.group.outputs,
                       " channels, both must be multiples of ", kChannelBlock);
}

Result<ConvProblem> BlockedConv2dOf(const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, ConvShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, BlockedEpilogueOf(node));
  if (HasGroups(shape)) {
    return Unimplemented("one group only, not ",
                         shape.channels / shape.group.channels);
  }
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  return ConvProblem{shape, epilogue};
}

Result<ConvProblem> BlockedGroupsOf(const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, ConvShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       BlockedEpilogueOf(node, ByChannel::kTaken));
  TIM_RETURN_IF_ERROR(CheckGroupsOfBlocks(shape));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  return ConvProblem{shape, epilogue};
}

ir::LayoutTuple BlockedConv2dLayouts(const ir::KernelNode& node, int residual) {
  ir::LayoutTuple blocked = ir::DenseLayouts(node);
  for (size_t i = 0; i < blocked.inputs.size(); ++i) {
    if (!node.present[i]) blocked.inputs[i] = ir::Layout::Any();
  }
  blocked.inputs[0] = blocked.outputs[0] = ChannelBlocks();
  if (residual >= 0) blocked.inputs[residual] = ChannelBlocks();
  return blocked;
}

RegisterTile TileOfGroup(
    const Conv2dShape& shape,
    const std::function<RegisterTile(int64_t blocks)>& tile_of) {
  const int64_t blocks = CeilDiv(shape.group.outputs, kChannelBlock);
  RegisterTile tile = tile_of(blocks);
  while (HasGroups(shape) && blocks % tile.blocks != 0) {
    tile = tile_of(tile.blocks - 1);
  }
  return tile;
}

bool IsPointwise(const Conv2dShape& shape) {
  const auto pointwise = [](const ConvAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad == 0 &&
           axis.input == axis.output;
  };
  return pointwise(shape.w) && pointwise(shape.h);
}

namespace {

// No tile is wider, and every kernel can keep so many pixels of a row.
constexpr int64_t kWidestTile = 16;
constexpr int64_t kKeptSpan = 128;

// Whether the image has one column, along which a row of tiles can be kept.
bool IsColumn(const Conv2dShape& shape) {
  const ConvAxis& w = shape.w;
  return w.input == 1 && w.kernel == 1 && w.output == 1 && w.pad == 0 &&
         SpanOf(shape.h, kWidestTile) <= kKeptSpan;
}

}  // namespace

Conv2dShape Flatten(Conv2dShape shape) {
  if (IsPointwise(shape)) {
    shape.w.input = shape.w.output = shape.w.input * shape.h.input;
    shape.h.input = shape.h.output = 1;
  } else if (IsColumn(shape)) {
    std::swap(shape.w, shape.h);
  }
  return shape;
}

bool ReadsInsideOnly(const ConvAxis& axis) {
  return axis.kernel == 1 && axis.pad == 0 &&
         (axis.output - 1) * axis.stride < axis.input;
}

int64_t TilesPerItem(int64_t tiles, int64_t planes,
                     const ir::DeviceInfo& device) {
  const int64_t items = int64_t{64} * device.compute_units;
  return std::clamp<int64_t>(tiles * planes / items, 1, tiles);
}

int64_t InputElements(const Conv2dShape& shape) {
  return shape.w.input * shape.h.input * shape.channels * shape.batch;
}

int64_t OutputElements(const Conv2dShape& shape) {
  return shape.w.output * shape.h.output * shape.group.out_channels *
         shape.batch;
}

int64_t PackedTile::in_blocks(const Conv2dShape& shape) const {
  return CeilDiv(shape.group.channels, ic_block);
}

int64_t PackedTile::tiles(const Conv2dShape& shape) const {
  return CeilDiv(shape.group.out_channels, lanes);
}

int64_t PackedTile::elements(const Conv2dShape& shape) const {
  return tiles(shape) * in_blocks(shape) * shape.h.kernel * shape.w.kernel *
         ic_block * lanes;
}

Result<PackedOperand> PackWeights(const ir::KernelNode& node, int input,
                                  const Conv2dShape& shape,
                                  const PackedTile& tile,
                                  ir::Lowering* lowering) {
  if (node.constants[input] != nullptr) {
    return PackedOperand{CopiedFloats(
        StrCat("conv2d_nchw16c ", node.inputs[input].shape.ToString(), " oc ",
               tile.lanes, " ic ", tile.ic_block, " phases ", tile.phases),
        node, input, shape.group.out_channels * shape.terms(),
        tile.elements(shape), [shape, tile](const auto& visit) {
          ForEachWeight(shape, tile, visit);
        })};
  }
  Launch launch("ops/convolution/pack_weights.cl", "pack_weights");
  launch.Input("weights", node, input)
      .Scratch("packed", tile.elements(shape) * int64_t{sizeof(float)},
               sizeof(float))
      .Int("out_channels", shape.group.out_channels)
      .Int("channels", shape.group.channels)
      .Int("kernel_w", shape.w.kernel)
      .Int("kernel_h", shape.h.kernel)
      .Int("lanes", tile.lanes)
      .Int("ic_block", tile.ic_block)
      .Int("in_blocks", tile.in_blocks(shape))
      .Int("tiles", tile.tiles(shape))
      .Int("phases", tile.phases)
      .Global(tile.lanes, tile.in_blocks(shape), tile.tiles(shape))
      .Local(kChannelBlock);
  return AppendPacking(launch, lowering);
}

double WeightsPackingCost(const ir::KernelNode& node, int input,
                          const Conv2dShape& shape, const PackedTile& tile,
                          const ir::DeviceInfo& device) {
  return PackingCost(node, input,
                     static_cast<double>(sizeof(float)) *
                         static_cast<double>(tile.elements(shape)),
                     device);
}

Result<ConvProblem> BlockedDepthwiseOf(const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const ConvProblem problem, BlockedNarrowGroupsOf(node));
  if (problem.shape.group.channels == 1) return problem;
  return Unimplemented("a group must have one input and one output channel");
}

Result<ConvProblem> BlockedNarrowGroupsOf(const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, ConvShapeOf(node));
  const int64_t width = shape.group.channels;
  const bool narrow = width == 2 || width == 4 || width == 8;
  if (width != shape.group.outputs ||
      (width != 1 && (!narrow || width == shape.channels))) {
    return Unimplemented(
        "a group must have one input and one output channel, or be one of "
        "several with 2, 4 or 8 of both");
  }
  if (!FitsChannelBlocks(node.inputs[0]) ||
      !FitsChannelBlocks(node.outputs[0])) {
    return Unimplemented("input and output must have rank 4 and fit 32 bits");
  }
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis, Residual::kRefused,
                                  ByChannel::kTaken));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  if (SpanOf(shape.w, 1) > kMaxSpan) {
    return Unimplemented("a pixel spans ", SpanOf(shape.w, 1),
                         " input pixels, at most ", kMaxSpan, " are kept");
  }
  return ConvProblem{shape, epilogue};
}

Result<PackedOperand> PackTaps(const ir::KernelNode& node, int input,
                               const Conv2dShape& shape,
                               ir::Lowering* lowering) {
  const int64_t width = shape.w.kernel;
  const int64_t height = shape.h.kernel;
  const int64_t group = shape.group.channels;
  if (node.constants[input] != nullptr) {
    return PackedOperand{CopiedFloats(
        StrCat("conv2d_depthwise_nchw16c channels ", shape.channels, " taps ",
               width, " x ", height, " group ", group),
        node, input, shape.channels * group * width * height, TapFloats(shape),
        [shape](const auto& visit) { ForEachTap(shape, visit); })};
  }
  const int64_t blocks = CeilDiv(shape.channels, kChannelBlock);
  Launch launch("ops/convolution/pack_weights.cl", "pack_taps");
  launch.Input("weights", node, input)
      .Scratch("packed", TapFloats(shape) * int64_t{sizeof(float)},
               sizeof(float))
      .Int("channels", shape.channels)
      .Int("group", group)
      .Int("kernel_w", width)
      .Int("kernel_h", height)
      .Int("blocks", blocks)
      .Global(blocks)
      .Local(1);
  return AppendPacking(launch, lowering);
}

double TapsPackingCost(const ir::KernelNode& node, int input,
                       const Conv2dShape& shape, const ir::DeviceInfo& device) {
  return PackingCost(node, input,
                     static_cast<double>(sizeof(float)) *
                         static_cast<double>(TapFloats(shape)),
                     device);
}

int64_t SpanOf(const ConvAxis& axis, int64_t width) {
  return (width - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

void AddCommonKernel(const Conv2dShape& shape, Launch* launch) {
  const auto is_common = [&](const ConvAxis& axis, int64_t kernel) {
    return axis.kernel == kernel && axis.dilation == 1 &&
           (kernel > 1 || axis.pad == 0);
  };
  for (const int64_t kernel : {1, 3}) {
    if (is_common(shape.w, kernel) && is_common(shape.h, kernel)) {
      launch->Option(StrCat("-DKERNEL=", kernel));
    }
  }
}

int64_t DepthwiseTileWidth(const ConvAxis& axis, bool many_shapes,
                           const ir::DeviceInfo& device) {
  const int64_t limit = BlocksInRegisters(device);
  if (many_shapes) {
    int64_t largest = 1;
    while (largest + 1 + SpanOf(axis, largest + 1) <= limit) ++largest;
    return FewTileSizes(axis.output, largest);
  }
  int64_t best = 1;
  for (int64_t width = 2; width <= axis.output; ++width) {
    if (width + SpanOf(axis, width) > limit) break;
    if (CeilDiv(axis.output, width) < CeilDiv(axis.output, best)) best = width;
  }
  return best;
}

}  // namespace tim::ops
