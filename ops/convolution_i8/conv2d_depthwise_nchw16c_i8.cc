// Depthwise convolution of 8-bit codes on tensors in blocks of 16 channels, for
// CPUs.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/nchw16c.h"
#include "ops/convolution_i8/packed_codes.h"
#include "ops/convolution_i8/variable_codes.h"
#include "ops/elements/byte_sum.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"
#include "ops/launch/register_tile.h"

namespace tim::ops {
namespace {

// Input pixels that a tile of one pixel keeps in registers.
constexpr int64_t kMaxSpan = 64;

Result<ConvProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_ASSIGN_OR_RETURN(const ConvProblem problem, CodeConv2dOf(node));
  const Conv2dShape& shape = problem.shape;
  if (shape.group.channels != 1 || shape.group.outputs != 1) {
    return Unimplemented("a group must have one input and one output channel");
  }
  if (SpanOf(shape.w, 1) > kMaxSpan) {
    return Unimplemented("a pixel spans ", SpanOf(shape.w, 1),
                         " input pixels, at most ", kMaxSpan, " are kept");
  }
  return problem;
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const Conv2dShape& shape = problem.shape;
  const double bytes = 2.0 * static_cast<double>(shape.channels) *
                       static_cast<double>(shape.terms());
  return SumCost(node, shape.terms(), device,
                 device.has_vnni ? prices::kConv2dDepthwiseNchw16cI8Vnni
                                 : prices::kConv2dDepthwiseNchw16cI8) +
         PackingCost(node, 1, bytes, device);
}

int64_t PairBytes(const Conv2dShape& shape) {
  return AlignUp(shape.channels, kChannelBlock) * CeilDiv(shape.w.kernel, 2) *
         shape.h.kernel * int64_t{sizeof(int32_t)};
}

ir::PackedConstant PackedPairs(const ir::KernelNode& node,
                               const Conv2dShape& shape,
                               const ByteShifts& shifts) {
  const bool is_signed = node.inputs[1].type == ir::DataType::kInt8;
  const int64_t width = shape.w.kernel;
  const int64_t taps = width * shape.h.kernel;
  const int64_t pairs = CeilDiv(width, 2);
  const int64_t block_pairs = pairs * shape.h.kernel;
  return {
      .id = StrCat("conv2d_depthwise_nchw16c_i8 pairs channels ",
                   shape.channels, " taps ", width, " x ", shape.h.kernel,
                   is_signed ? " signed " : " unsigned ", shifts.ToString()),
      .sources = {1},
      .bytes = PairBytes(shape),
      .pack = [=, channels = shape.channels,
               constant = node.constants[1]](std::span<std::byte> out) {
        auto* to = reinterpret_cast<int16_t*>(out.data());
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t pair = c / kChannelBlock * block_pairs +
                                 tap / width * pairs + tap % width / 2;
            to[(pair * kChannelBlock + c % kChannelBlock) * 2 +
               tap % width % 2] =
                static_cast<int16_t>(
                    ByteWeight(*constant, is_signed, c * taps + tap) -
                    shifts.shifts[c]);
          }
        }
        return OkStatus();
      }};
}

// depthwise_quads.clh: a dot product of four pixels, which one
// instruction computes, wants weights of 8 bits.
bool FitsQuads(const ir::KernelNode& node, const Conv2dShape& shape,
               const ByteShifts& shifts, const ir::DeviceInfo& device) {
  if (!device.has_vnni || shape.w.kernel > 5 || shape.w.stride > 2 ||
      shape.w.dilation != 1) {
    return false;
  }
  if (node.constants[1] == nullptr) return IsCentered(node.inputs[1]);
  using Signed = std::numeric_limits<int8_t>;
  const bool is_signed = node.inputs[1].type == ir::DataType::kInt8;
  const int64_t taps = shape.w.kernel * shape.h.kernel;
  for (int64_t i = 0; i < shape.channels * taps; ++i) {
    const int32_t weight =
        ByteWeight(*node.constants[1], is_signed, i) - shifts.shifts[i / taps];
    if (weight < Signed::min() || weight > Signed::max()) return false;
  }
  return true;
}

constexpr int64_t kQuad = 4;  // pixels

// Of as few tiles to a row as have their sums in registers.
int64_t QuadTileWidth(int64_t output, bool many_shapes) {
  constexpr int64_t kMostSums = 14;
  if (many_shapes) return FewTileSizes(output, kMostSums);
  return CeilDiv(output, CeilDiv(output, kMostSums));
}

// The weights of a row of channel `c`, once for each place of the first pixel
// in its quad.
void PackQuadRow(const Conv2dShape& shape, int64_t c, int64_t row,
                 const ir::ConstantData& weights, bool is_signed, int32_t shift,
                 std::span<std::byte> out) {
  const int64_t stride = shape.w.stride;
  const int64_t row_quads = kQuad / stride * 2;
  const int64_t rows = shape.h.kernel;
  const int64_t first =
      (c / kChannelBlock * rows + row) * row_quads * kChannelBlock +
      c % kChannelBlock;
  const int64_t taps = (c * rows + row) * shape.w.kernel;
  for (int64_t place = 0; place < kQuad; place += stride) {
    for (int64_t kw = 0; kw < shape.w.kernel; ++kw) {
      const int64_t pixel = place + kw;
      const int64_t quad = place / stride * 2 + pixel / kQuad;
      const int32_t weight = ByteWeight(weights, is_signed, taps + kw) - shift;
      out[(first + quad * kChannelBlock) * kQuad + pixel % kQuad] =
          static_cast<std::byte>(weight);
    }
  }
}

int64_t QuadBytes(const Conv2dShape& shape) {
  return AlignUp(shape.channels, kChannelBlock) * shape.h.kernel * 2 * kQuad /
         shape.w.stride * kQuad;
}

ir::PackedConstant PackedQuads(const ir::KernelNode& node,
                               const Conv2dShape& shape,
                               const ByteShifts& shifts) {
  const bool is_signed = node.inputs[1].type == ir::DataType::kInt8;
  const int64_t rows = shape.h.kernel;
  return {.id = StrCat(
              "conv2d_depthwise_nchw16c_i8 quads channels ", shape.channels,
              " taps ", shape.w.kernel, " x ", rows, " stride ", shape.w.stride,
              is_signed ? " signed " : " unsigned ", shifts.ToString()),
          .sources = {1},
          .bytes = QuadBytes(shape),
          .pack = [=, constant = node.constants[1]](std::span<std::byte> out) {
            std::fill(out.begin(), out.end(), std::byte{0});
            for (int64_t c = 0; c < shape.channels; ++c) {
              for (int64_t row = 0; row < rows; ++row) {
                PackQuadRow(shape, c, row, *constant, is_signed,
                            shifts.shifts[c], out);
              }
            }
            return OkStatus();
          }};
}

Result<PackedOperand> WeightsOf(const ir::KernelNode& node,
                                const Conv2dShape& shape,
                                const ByteShifts& shifts, bool has_quads,
                                ir::Lowering* lowering) {
  if (node.constants[1] != nullptr) {
    return PackedOperand{.constant = has_quads
                                         ? PackedQuads(node, shape, shifts)
                                         : PackedPairs(node, shape, shifts)};
  }
  Launch launch("ops/convolution_i8/pack_code_taps.cl",
                has_quads ? "pack_code_taps_quads" : "pack_code_taps_pairs");
  launch.Type("IN1", node.inputs[1])
      .Input("weights", node, 1)
      .Packed("rules", ChannelTable(DescsOf(node), shape.channels),
              sizeof(int32_t))
      .Scratch("packed", has_quads ? QuadBytes(shape) : PairBytes(shape),
               sizeof(int32_t))
      .Int("channels", shape.channels)
      .Int("kernel_w", shape.w.kernel)
      .Int("kernel_h", shape.h.kernel);
  if (has_quads) launch.Int("stride", shape.w.stride);
  launch.Global(AlignUp(shape.channels, kChannelBlock)).Local(kChannelBlock);
  return AppendPacking(launch, lowering);
}

Result<PackedOperand> TableOf(const ir::KernelNode& node,
                              const Conv2dShape& shape,
                              const ByteShifts& shifts,
                              ir::Lowering* lowering) {
  const ByteWeights weights = ByteWeightsOf(shape);
  if (HasConstantCodes(node)) {
    return PackedOperand{.constant = ByteTable(node, weights, shifts)};
  }
  return VariableTable(node, weights, shifts, VariableCodesOf(weights),
                       CodeZeros::kNone, lowering);
}

// With what depends on how the sums of a row are made.
Result<Launch> RowLaunch(const ir::KernelNode& node, const Conv2dShape& shape,
                         const ByteShifts& shifts, const ir::DeviceInfo& device,
                         ir::Lowering* lowering) {
  const bool has_quads = FitsQuads(node, shape, shifts, device);
  const int64_t width =
      has_quads ? QuadTileWidth(shape.w.output, node.many_shapes)
                : DepthwiseTileWidth(shape.w, node.many_shapes, device);
  const int64_t span = SpanOf(shape.w, width);
  Launch launch("ops/convolution_i8/conv2d_depthwise_nchw16c_i8.cl",
                "conv2d_depthwise_nchw16c_i8");
  AddByteOptions(node, shifts.centered, device, &launch);
  launch.Option(StrCat("-DTW=", width))
      .Option(StrCat("-DKERNEL_W=", shape.w.kernel))
      .Option(StrCat("-DSTRIDE=", shape.w.stride));
  if (has_quads) {
    launch.Option(StrCat("-DQUADS=", CeilDiv(span, kQuad)));
  } else {
    launch.Option(StrCat("-DDILATION=", shape.w.dilation))
        .Option(StrCat("-DSPAN=", span));
  }
  TIM_ASSIGN_OR_RETURN(PackedOperand weights,
                       WeightsOf(node, shape, shifts, has_quads, lowering));
  launch.Input("input", node, 0);
  AddPacked("weights", std::move(weights), sizeof(int32_t), &launch);
  return launch;
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  const ByteShifts shifts = WholeShifts(node, shape.channels);
  const int64_t blocks = CeilDiv(shape.channels, kChannelBlock);
  const int64_t run =
      TilesPerItem(shape.h.output, blocks * shape.batch, device);
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(PackedOperand channels,
                       TableOf(node, shape, shifts, &lowering));
  TIM_ASSIGN_OR_RETURN(Launch launch,
                       RowLaunch(node, shape, shifts, device, &lowering));
  AddPacked("channels", std::move(channels), sizeof(int32_t), &launch);
  launch.Output("output", node, 0)
      .Int("input_zero", UnsignedZero(node.inputs[0]))
      .Int("output_zero", node.outputs[0].quantization.ZeroPoint());
  AddActivation(epilogue, node.outputs[0], &launch);
  launch.Struct("sizes", ConvSizes(shape))
      .Int("blocks", blocks)
      .Int("run", run)
      .Global(CeilDiv(shape.h.output, run), 1, blocks * shape.batch)
      .Local(1)
      .PartitionSpatially();
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_nchw16c_i8) {
  registry.Add(
      ir::TypedKernel<ConvProblem>{.op = "tim.Conv2d",
                                   .name = "conv2d_depthwise_nchw16c_i8",
                                   .takes_epilogue = true,
                                   .analyze = Analyze,
                                   .layouts = LayoutsInBlocks<ConvProblem>,
                                   .cost = Cost,
                                   .lower = Lower});
}

}  // namespace tim::ops
