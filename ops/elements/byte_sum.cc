#include "ops/elements/byte_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "base/hash.h"
#include "kernels/elements.h"
#include "ops/launch/packed.h"

namespace tim::ops {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kMostSum = std::numeric_limits<int32_t>::max();

bool IsByte(ir::DataType type) {
  return type == ir::DataType::kInt8 || type == ir::DataType::kUint8;
}

bool IsSigned(const ir::TensorDesc& desc) {
  return desc.type == ir::DataType::kInt8;
}

int32_t ZeroOf(const ir::TensorDesc& desc, int64_t channel = 0) {
  return desc.quantized() ? desc.quantization.ZeroPoint(channel) : 0;
}

Status CheckByte(const ir::TensorDesc& desc) {
  if (IsByte(desc.type)) return OkStatus();
  return Unimplemented("factors and result must be int8 or uint8, not ",
                       ir::ToString(desc.type));
}

Status CheckZero(const char* operand, const ir::TensorDesc& desc) {
  if (!desc.quantized()) return OkStatus();
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  for (const int32_t zero : desc.quantization.zero_points) {
    if (zero < info.min || zero > info.max) {
      return Unimplemented(operand, "'s zero point ", zero, " is no code of ",
                           info.name);
    }
  }
  return OkStatus();
}

const char* DotOption(const ir::DeviceInfo& device) {
  return device.has_vnni ? "-DDOT=VNNI" : "-DDOT=PLAIN";
}

// What each channel adds to its sum.
std::vector<int64_t> BiasOfChannels(const ir::KernelNode& node,
                                    int64_t channels) {
  const SumDescs descs = DescsOf(node);
  if (descs.bias == nullptr || node.constants[2] == nullptr) {
    return std::vector<int64_t>(channels, 0);
  }
  return BiasUnits(descs, {descs.bias, node.constants[2]->bytes.data()},
                   channels);
}

// What the terms of a channel add up to.
template <typename Term>
int64_t SumOfTerms(const ByteWeights& weights, int64_t channel, Term term) {
  int64_t sum = 0;
  for (int64_t k = 0; k < weights.terms; ++k) {
    sum += term(channel * weights.channel_step + k * weights.term_step);
  }
  return sum;
}

Status CheckFactors(const SumDescs& descs, int64_t channels) {
  for (int64_t c = 0; c < channels; ++c) {
    const float factor = RuleOf(descs, c).factor;
    if (!std::isfinite(factor)) {
      return Unimplemented("the scales of channel ", c, " make a factor of ",
                           factor);
    }
  }
  return OkStatus();
}

// Weights are looked at only where their type does not tell.
Status CheckSums(const ir::KernelNode& node, const ByteWeights& weights) {
  const SumDescs descs = DescsOf(node);
  const Int128 input = MaxMagnitude(*descs.input);
  const Int128 any = input * MaxMagnitude(*descs.weights) * weights.terms;
  const std::vector<int64_t> bias = BiasOfChannels(node, weights.channels);
  for (int64_t c = 0; c < weights.channels; ++c) {
    const Int128 more = bias[c] < 0 ? -Int128{bias[c]} : Int128{bias[c]};
    if (any + more <= kMostSum) continue;
    const int64_t zero = ZeroOf(*descs.weights, c);
    const int64_t sum = SumOfTerms(weights, c, [&](int64_t at) {
      return std::abs(
          ByteWeight(*node.constants[1], IsSigned(*descs.weights), at) - zero);
    });
    if (input * sum + more > kMostSum) {
      return Unimplemented("the sum of channel ", c,
                           " may need more than 32 "
                           "bits");
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckByteFactors(const ir::KernelNode& node) {
  const SumDescs descs = DescsOf(node);
  for (const ir::TensorDesc* desc : {descs.input, descs.weights}) {
    TIM_RETURN_IF_ERROR(CheckByte(*desc));
  }
  if (IsPlainSum(descs)) return Unimplemented("nothing is quantized");
  if (kernels::PolicyOf(node.attributes()).wrap) {
    return Unimplemented("results that wrap");
  }
  TIM_RETURN_IF_ERROR(CheckZero("input 0", *descs.input));
  return CheckZero("input 1", *descs.weights);
}

Status CheckByteTypes(const ir::KernelNode& node) {
  const ir::TensorDesc& output = *DescsOf(node).output;
  TIM_RETURN_IF_ERROR(CheckByte(output));
  TIM_RETURN_IF_ERROR(CheckByteFactors(node));
  return CheckZero("the output", output);
}

bool IsTotal(const ir::KernelNode& node) {
  return node.outputs[0].type == ir::DataType::kInt32 &&
         IsPlainSum(DescsOf(node));
}

Status CheckTotal(const ir::KernelNode& node) {
  for (const int factor : {0, 1}) {
    const ir::DataType type = node.inputs[factor].type;
    if (type == ir::DataType::kInt8 || type == ir::DataType::kUint8) continue;
    return Unimplemented("factors must be int8 or uint8, not ",
                         ir::ToString(type));
  }
  if (kernels::PolicyOf(node.attributes()).wrap) {
    return Unimplemented("results that wrap");
  }
  if (node.epilogue.empty()) return OkStatus();
  return Unimplemented("operators behind a sum that is stored as int32");
}

Status CheckConstantSums(const ir::KernelNode& node,
                         const ByteWeights& weights) {
  if (node.constants[1] == nullptr) {
    return Unimplemented("the weights are not constant");
  }
  if (BiasOf(node) >= 0 && node.constants[2] == nullptr) {
    return Unimplemented("the bias is not constant");
  }
  TIM_RETURN_IF_ERROR(CheckFactors(DescsOf(node), weights.channels));
  return CheckSums(node, weights);
}

std::string ByteShifts::ToString() const {
  std::vector<int32_t> all = shifts;
  all.insert(all.end(), zeros.begin(), zeros.end());
  return HashBytes(all.data(), all.size() * sizeof(int32_t)).ToString();
}

ByteShifts ByteShiftsOf(const ir::KernelNode& node,
                        const ByteWeights& weights) {
  const ir::TensorDesc& desc = node.inputs[1];
  const bool is_signed = IsSigned(desc);
  ByteShifts out;
  for (int64_t c = 0; c < weights.channels; ++c) {
    const int32_t zero = ZeroOf(desc, c);
    int32_t least = 0;
    int32_t greatest = 0;
    for (int64_t k = 0; k < weights.terms; ++k) {
      const int32_t code =
          ByteWeight(*node.constants[1], is_signed,
                     c * weights.channel_step + k * weights.term_step);
      least = std::min(least, code - zero);
      greatest = std::max(greatest, code - zero);
    }
    const bool fits = least >= -128 && greatest <= 127;
    out.shifts.push_back(fits ? zero : is_signed ? 0 : 128);
    out.zeros.push_back(zero - out.shifts.back());
    out.centered &= fits;
  }
  return out;
}

ByteShifts WholeShifts(const ir::KernelNode& node, int64_t channels) {
  ByteShifts out;
  for (int64_t c = 0; c < channels; ++c) {
    out.shifts.push_back(ZeroOf(node.inputs[1], c));
    out.zeros.push_back(0);
  }
  return out;
}

int32_t UnsignedZero(const ir::TensorDesc& input) {
  return ZeroOf(input) + (IsSigned(input) ? 128 : 0);
}

ir::PackedConstant ByteTable(const ir::KernelNode& node,
                             const ByteWeights& weights,
                             const ByteShifts& shifts) {
  const SumDescs descs = DescsOf(node);
  const int64_t input_zero = UnsignedZero(*descs.input);
  const std::vector<int64_t> bias = BiasOfChannels(node, weights.channels);
  std::vector<int32_t> words(AlignUp(weights.channels, kLanes) * 3);
  for (int64_t c = 0; c < weights.channels; ++c) {
    const int64_t zero = shifts.zeros[c];
    const int64_t sum = SumOfTerms(weights, c, [&](int64_t at) {
      return ByteWeight(*node.constants[1], IsSigned(*descs.weights), at) -
             shifts.shifts[c];
    });
    // The low 32 bits are what counts.
    const uint64_t offset =
        static_cast<uint64_t>(bias[c]) +
        static_cast<uint64_t>(input_zero * (zero * weights.terms - sum));
    int32_t* row = &words[c / kLanes * kLanes * 3 + c % kLanes];
    row[0] = static_cast<int32_t>(static_cast<uint32_t>(offset));
    row[kLanes] = std::bit_cast<int32_t>(RuleOf(descs, c).factor);
    row[2 * kLanes] = static_cast<int32_t>(zero);
  }
  return PackedTable("byte_table", std::move(words));
}

void AddByteTypes(const ir::KernelNode& node, bool centered, Launch* launch) {
  launch->Type("IN0", node.inputs[0])
      .Type("OUT", node.outputs[0])
      .Policy(node.attributes());
  if (!centered) launch->Option("-DWEIGHT_ZERO");
}

void AddByteOptions(const ir::KernelNode& node, bool centered,
                    const ir::DeviceInfo& device, Launch* launch) {
  AddByteTypes(node, centered, launch);
  launch->Option(DotOption(device));
}

void AddTotalOptions(const ir::KernelNode& node, bool centered,
                     const ir::DeviceInfo& device, Launch* launch) {
  launch->Type("IN0", node.inputs[0]).Option("-DTOTALS");
  if (!centered) launch->Option("-DWEIGHT_ZERO");
  launch->Option(DotOption(device));
}

}  // namespace tim::ops
