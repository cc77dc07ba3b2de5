#include "ops/convolution_i8/packed_codes.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/str_cat.h"
#include "ir/packed_form.h"
#include "ops/convolution/nchw16c.h"
#include "ops/convolution_i8/variable_codes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {
namespace {

constexpr int64_t kDotBytes = 4;  // that are summed in one lane
constexpr int64_t kMostElements = int64_t{1} << 26;

// The first block of input channels that a tile reads; see
// conv2d_nchw16c_i8.cl.
int64_t FirstBlock(const Conv2dShape& shape, const PackedCodes& packed,
                   int64_t tile) {
  const int64_t channel =
      tile * packed.lanes / shape.group.outputs * shape.group.channels;
  return std::min(channel / packed.ic_block,
                  packed.in_blocks - packed.read_blocks);
}

// How many blocks it needs from there on.
int64_t NeededBlocks(const Conv2dShape& shape, const PackedCodes& packed,
                     int64_t tile) {
  const int64_t last =
      std::min((tile + 1) * packed.lanes, shape.group.out_channels) - 1;
  const int64_t channels =
      (last / shape.group.outputs + 1) * shape.group.channels;
  return CeilDiv(channels, packed.ic_block) - FirstBlock(shape, packed, tile);
}

constexpr int64_t kNone = -1;

// visit(index, place) of all that a tile has for output channel `oc`; kNone
// where there is no such weight.
template <typename Visit>
void ForEachWeight(const Conv2dShape& shape, const PackedCodes& packed,
                   int64_t oc, const Visit& visit) {
  const int64_t tile = oc / packed.lanes;
  const int64_t taps = shape.h.kernel * shape.w.kernel;
  const int64_t tap_step = packed.ic_block * packed.lanes;
  const int64_t first_channel =
      oc / shape.group.outputs * shape.group.channels -
      FirstBlock(shape, packed, tile) * packed.ic_block;
  const int64_t first = tile * packed.read_blocks * taps * tap_step +
                        oc % packed.lanes * kDotBytes;
  const auto place = [&](int64_t ic) {
    return first + ic / packed.ic_block * taps * tap_step +
           ic % packed.ic_block / kDotBytes * packed.lanes * kDotBytes +
           ic % kDotBytes;
  };
  for (int64_t ic = 0; ic < packed.read_blocks * packed.ic_block; ++ic) {
    const int64_t own = ic - first_channel;
    const bool exists = own >= 0 && own < shape.group.channels;
    const int64_t at = (oc * shape.group.channels + own) * taps;
    const int64_t to = place(ic);
    for (int64_t tap = 0; tap < taps; ++tap) {
      visit(exists ? at + tap : kNone, to + tap * tap_step);
    }
  }
}

// Ranks and extents that these kernels take.
Status CheckExtents(const ir::KernelNode& node) {
  if (node.outputs[0].shape.rank() != 4) {
    return Unimplemented("the output has rank ", node.outputs[0].shape.rank(),
                         ", expected 4");
  }
  // Blocks make both tensors and the weights at most 32 times larger.
  for (const ir::TensorDesc* desc :
       {&node.inputs[0], &node.inputs[1], &node.outputs[0]}) {
    if (desc->shape.NumElements().value_or(0) > kMostElements) {
      return Unimplemented(desc->shape.ToString(),
                           " is too large for 32-bit positions");
    }
  }
  return OkStatus();
}

Status CheckSums(const ir::KernelNode& node, const Conv2dShape& shape) {
  const ByteWeights weights = ByteWeightsOf(shape);
  return HasConstantCodes(node) ? CheckConstantSums(node, weights)
                                : CheckVariableCodes(node, weights);
}

}  // namespace

Result<CodeEpilogue> CheckedCodeEpilogueOf(const ir::KernelNode& node,
                                           const Conv2dShape& shape) {
  TIM_RETURN_IF_ERROR(CheckCodeTypes(node));
  TIM_ASSIGN_OR_RETURN(const CodeEpilogue epilogue, CodeEpilogueOf(node));
  TIM_RETURN_IF_ERROR(CheckExtents(node));
  TIM_RETURN_IF_ERROR(CheckSums(node, shape));
  return epilogue;
}

Status CheckTotals(const ir::KernelNode& node, const Conv2dShape& shape) {
  TIM_RETURN_IF_ERROR(CheckTotal(node));
  TIM_RETURN_IF_ERROR(CheckExtents(node));
  return CheckConstantSums(node, ByteWeightsOf(shape));
}

Result<ConvProblem> CodeConv2dOf(const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, ConvShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(CheckByteTypes(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis));
  TIM_RETURN_IF_ERROR(CheckExtents(node));
  TIM_RETURN_IF_ERROR(CheckSums(node, shape));
  return ConvProblem{shape, epilogue};
}

ByteWeights ByteWeightsOf(const Conv2dShape& shape) {
  return {.channels = shape.group.out_channels,
          .terms = shape.terms(),
          .channel_step = shape.terms(),
          .term_step = 1};
}

int64_t PackedCodes::bytes(const Conv2dShape& shape) const {
  return tiles * read_blocks * shape.h.kernel * shape.w.kernel * ic_block *
         lanes;
}

PackedCodes PackedCodesOf(const Conv2dShape& shape, int64_t lanes,
                          int64_t ic_block) {
  PackedCodes packed = {.lanes = lanes,
                        .ic_block = ic_block,
                        .in_blocks = CeilDiv(shape.channels, ic_block),
                        .tiles = CeilDiv(shape.group.out_channels, lanes)};
  int64_t most = 1;
  for (int64_t tile = 0; tile < packed.tiles; ++tile) {
    most = std::max(most, NeededBlocks(shape, packed, tile));
  }
  packed.read_blocks = most;
  return packed;
}

ir::PackedConstant PackedCodeWeights(const ir::KernelNode& node,
                                     const Conv2dShape& shape,
                                     const PackedCodes& packed,
                                     const ByteShifts& shifts) {
  const bool is_signed = node.inputs[1].type == ir::DataType::kInt8;
  const auto pack = [=](const std::byte* from, std::byte* to) {
    for (int64_t oc = 0; oc < shape.group.out_channels; ++oc) {
      const int32_t shift = shifts.shifts[oc];
      const auto zero = static_cast<std::byte>(shifts.zeros[oc]);
      ForEachWeight(shape, packed, oc, [&](int64_t i, int64_t at) {
        to[at] = i == kNone ? zero : Shifted(from[i], -shift);
      });
    }
  };
  const auto unpack = [=](const std::byte* from, std::byte* to) {
    for (int64_t oc = 0; oc < shape.group.out_channels; ++oc) {
      const int32_t shift = shifts.shifts[oc];
      ForEachWeight(shape, packed, oc, [&](int64_t i, int64_t at) {
        if (i != kNone) to[i] = Shifted(from[at], shift);
      });
    }
  };
  return {
      .id = StrCat("conv2d_nchw16c_i8 ", node.inputs[1].shape.ToString(),
                   " of ", node.constants[1]->hash.ToString(), " channels ",
                   shape.channels, " outputs ", shape.group.outputs, " lanes ",
                   packed.lanes, " ic ", packed.ic_block,
                   is_signed ? " signed " : " unsigned ", shifts.ToString()),
      .sources = {1},
      .bytes = packed.bytes(shape),
      .pack = ir::ReversiblePacking{
          .constant = node.constants[1],
          .pack = pack,
          .unpack = unpack,
          .unpacked = shape.group.out_channels * shape.terms()}};
}

}  // namespace tim::ops
