// Bounds of sums of codes that are not known, and the launches that pack them.
#include "ops/convolution_i8/variable_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

constexpr int64_t kMostSum = std::numeric_limits<int32_t>::max();
constexpr int64_t kTableWords = 3;  // of a channel
constexpr int64_t kDotBytes = 4;    // that are summed in one lane
// More than codes of 8 bits are from each other, rounded or not.
constexpr double kBeyondCodes = 1024;

bool IsConstant(const ir::KernelNode& node, int input) {
  return node.constants[input] != nullptr;
}

bool HasVariableBias(const ir::KernelNode& node) {
  const int bias = BiasOf(node);
  return bias >= 0 && !IsConstant(node, bias);
}

// No sum of products is greater, or less than its opposite.
int64_t GreatestSum(const SumDescs& descs, int64_t terms) {
  return static_cast<int64_t>(MaxMagnitude(*descs.input) *
                              MaxMagnitude(*descs.weights) * terms);
}

// The greatest bias that may be added to every sum.
int64_t GreatestBias(const SumDescs& descs, int64_t terms) {
  return kMostSum - GreatestSum(descs, terms);
}

// A greater bias than there is room for may count less where the results are
// at a limit of their type with both.
Status CheckVariableBias(const SumDescs& descs, const ByteWeights& weights) {
  const int64_t least = kMostSum - 2 * GreatestSum(descs, weights.terms);
  for (int64_t c = 0; c < weights.channels; ++c) {
    const double factor = RuleOf(descs, c).factor;
    if (least > 0 && factor * static_cast<double>(least) >= kBeyondCodes) {
      continue;
    }
    return Unimplemented("with a bias that is not constant the sum of channel ",
                         c, " may need more than 32 bits, and its factor ",
                         factor, " does not saturate before");
  }
  return OkStatus();
}

Status CheckConstantBias(const ir::KernelNode& node,
                         const ByteWeights& weights) {
  const SumDescs descs = DescsOf(node);
  const int64_t most = GreatestBias(descs, weights.terms);
  const std::vector<int64_t> units =
      BiasUnits(descs, {descs.bias, node.constants[BiasOf(node)]->bytes.data()},
                weights.channels);
  for (int64_t c = 0; c < weights.channels; ++c) {
    if (units[c] >= -most && units[c] <= most) continue;
    return Unimplemented("the bias of channel ", c, " makes ", units[c],
                         " of sums, which may need more than 32 bits with "
                         "weights that are not constant");
  }
  return OkStatus();
}

void AddRules(const ir::KernelNode& node, int64_t channels, Launch* launch) {
  launch->Packed("rules", ChannelTable(DescsOf(node), channels),
                 sizeof(int32_t));
}

}  // namespace

bool HasConstantCodes(const ir::KernelNode& node) {
  return IsConstant(node, 1) && !HasVariableBias(node);
}

Status CheckVariableCodes(const ir::KernelNode& node,
                          const ByteWeights& weights) {
  const SumDescs descs = DescsOf(node);
  if (SumKindOf(descs, weights.terms) != SumKind::kInt) {
    return Unimplemented("sums of ", weights.terms,
                         " products may need more than 32 bits, with weights "
                         "or a bias that are not constant");
  }
  for (int64_t c = 0; c < weights.channels; ++c) {
    const float factor = RuleOf(descs, c).factor;
    if (std::isfinite(factor)) continue;
    return Unimplemented("the scales of channel ", c, " make a factor of ",
                         factor);
  }
  if (BiasOf(node) < 0) return OkStatus();
  return HasVariableBias(node) ? CheckVariableBias(descs, weights)
                               : CheckConstantBias(node, weights);
}

bool IsCentered(const ir::TensorDesc& weights) {
  const int32_t middle = weights.type == ir::DataType::kInt8 ? 0 : 128;
  if (!weights.quantized()) return middle == 0;
  const ir::Quantization& quantization = weights.quantization;
  if (!quantization.per_channel()) return quantization.ZeroPoint() == middle;
  return std::all_of(quantization.zero_points.begin(),
                     quantization.zero_points.end(),
                     [&](int32_t zero) { return zero == middle; });
}

VariableCodes VariableCodesOf(const ByteWeights& weights) {
  return {.terms = weights.terms,
          .bias_period = weights.channels,
          .bias_count = weights.channels};
}

void AddWeights(const ir::KernelNode& node, const VariableCodes& codes,
                Launch* launch) {
  if (codes.scratch >= 0) {
    launch->EarlierScratch("weights", codes.scratch, 1);
  } else {
    launch->Input("weights", node, 1);
  }
}

Result<PackedOperand> VariableTable(const ir::KernelNode& node,
                                    const ByteWeights& weights,
                                    const ByteShifts& shifts,
                                    const VariableCodes& codes, CodeZeros zeros,
                                    ir::Lowering* lowering) {
  const SumDescs descs = DescsOf(node);
  const int64_t rows = AlignUp(weights.channels, kChannelBlock);
  Launch launch("ops/convolution_i8/code_table.cl", "code_table");
  launch.Type("IN1", *descs.weights);
  if (zeros == CodeZeros::kNone || IsCentered(*descs.weights)) {
    launch.Option("-DCENTERED");
  }
  if (IsConstant(node, 1)) {
    launch.Option("-DBASE").Packed("base", ByteTable(node, weights, shifts),
                                   sizeof(int32_t));
  } else {
    AddWeights(node, codes, &launch);
  }
  AddRules(node, weights.channels, &launch);
  if (const int bias = BiasOf(node); bias >= 0) {
    launch.Type("BIAS", *descs.bias).Input("bias", node, bias);
  }
  launch
      .Scratch("table", rows * kTableWords * int64_t{sizeof(int32_t)},
               sizeof(int32_t))
      .Int("channels", weights.channels)
      .Int("terms", weights.terms)
      .Int("input_zero", UnsignedZero(*descs.input))
      .Int("bias_most", GreatestBias(descs, codes.terms))
      .Int("bias_period", codes.bias_period)
      .Int("bias_count", codes.bias_count)
      .Global(rows)
      .Local(kChannelBlock);
  return AppendPacking(launch, lowering);
}

Result<PackedOperand> VariableWeights(
    const ir::KernelNode& node, const Conv2dShape& shape,
    const PackedCodes& packed, const VariableCodes& codes,
    const PackedOperand& table, PackingItems items, ir::Lowering* lowering) {
  const bool words = items == PackingItems::kWords;
  const int64_t taps = shape.w.kernel * shape.h.kernel;
  Launch launch("ops/convolution_i8/pack_codes.cl",
                words ? "pack_codes_words" : "pack_codes");
  launch.Type("IN1", node.inputs[1]);
  AddWeights(node, codes, &launch);
  AddRules(node, shape.group.out_channels, &launch);
  launch.EarlierScratch("table", table.scratch, sizeof(int32_t))
      .Scratch("packed", packed.bytes(shape), sizeof(int32_t))
      .Int("channels", shape.group.out_channels)
      .Int("taps", taps)
      .Int("group_channels", shape.group.channels)
      .Int("group_outputs", shape.group.outputs)
      .Int("lanes", packed.lanes)
      .Int("ic_block", packed.ic_block)
      .Int("in_blocks", packed.in_blocks)
      .Int("read_blocks", packed.read_blocks)
      .Int("tiles", packed.tiles);
  if (words) {
    launch
        .Global(AlignUp(packed.lanes, kChannelBlock),
                packed.read_blocks * taps * packed.ic_block / kDotBytes,
                packed.tiles)
        .Local(kChannelBlock);
  } else {
    launch
        .Global(packed.tiles * packed.lanes / kChannelBlock, packed.read_blocks)
        .Local(1);
  }
  return AppendPacking(launch, lowering);
}

}  // namespace tim::ops
