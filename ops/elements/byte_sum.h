// What kernels on kernels/bytes/byte_dot.clh share: sums of products of 8-bit
// codes whose zero points are taken out of the finished sum.
//
// Of sum((a - za) * (w - zw)) such a kernel makes sum(a' * p) of unsigned bytes
// a' and signed bytes p, modulo 2^32:
//   a' = a, or a + 128 where codes are signed; za' likewise
//   p  = w - shift, with a shift for each output channel; zp = zw - shift
//   sum = sum(a' * p) - zp * sum(a') + offset
//   offset = bias - za' * sum(p) + za' * zp * terms
// A term that the formula does not have adds nothing where its p is zp, or its
// a' is za', to all that these sums go over.
#ifndef TIM_OPS_ELEMENTS_BYTE_SUM_H_
#define TIM_OPS_ELEMENTS_BYTE_SUM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// Where weight k of output channel c is: c * channel_step + k * term_step.
struct ByteWeights {
  int64_t channels = 1;
  int64_t terms = 1;
  int64_t channel_step = 1;
  int64_t term_step = 1;
};

/// Ok, or why a kernel cannot do the anchor with exact sums of 32 bits,
/// whatever the weights are: types, quantization, rounding.
Status CheckByteTypes(const ir::KernelNode& node);
/// The same without the result.
Status CheckByteFactors(const ir::KernelNode& node);

/// True where the result is the sums of plain codes themselves, as int32.
bool IsTotal(const ir::KernelNode& node);

/// Ok, or why a total is none that a kernel of codes stores as it is: types,
/// what is to follow the sum.
Status CheckTotal(const ir::KernelNode& node);

/// Ok, or why exact sums of 32 bits do not do for the weights and the bias:
/// values, which must be constant, and quantization.
Status CheckConstantSums(const ir::KernelNode& node,
                         const ByteWeights& weights);

/// How the weights become signed bytes.
struct ByteShifts {
  std::vector<int32_t> shifts;  ///< One for each channel.
  std::vector<int32_t> zeros;   ///< zp of each channel.
  bool centered = true;         ///< Every zp is 0: no kernel needs sum(a').

  /// Part of the id of what is packed with them.
  std::string ToString() const;
};
/// Weights whose distance from the zero point fits a signed byte are shifted by
/// the zero point.
ByteShifts ByteShiftsOf(const ir::KernelNode& node, const ByteWeights& weights);

/// Those of weights that a kernel has in 16 bits, less their zero points.
ByteShifts WholeShifts(const ir::KernelNode& node, int64_t channels);

/// A code plus `shift`, modulo 2^8, signed or not.
inline std::byte Shifted(std::byte code, int32_t shift) {
  return static_cast<std::byte>(std::to_integer<int32_t>(code) + shift);
}

/// Weight number `at` of the node's constant input 1.
inline int32_t ByteWeight(const ir::ConstantData& constant, bool is_signed,
                          int64_t at) {
  const auto byte = std::to_integer<uint8_t>(constant.bytes.data()[at]);
  return is_signed ? static_cast<int8_t>(byte) : byte;
}

/// za'.
int32_t UnsignedZero(const ir::TensorDesc& input);

/// For every 16 output channels 16 offsets, 16 factors of the sum (floats) and
/// 16 zp; all 0 for channels that do not exist.  A bias that is no constant is
/// left out.
ir::PackedConstant ByteTable(const ir::KernelNode& node,
                             const ByteWeights& weights,
                             const ByteShifts& shifts);

/// -DIN0, -DOUT, the rounding, and -DWEIGHT_ZERO where sum(a') counts.
void AddByteTypes(const ir::KernelNode& node, bool centered, Launch* launch);
/// These, and -DDOT of byte_dot.clh.
void AddByteOptions(const ir::KernelNode& node, bool centered,
                    const ir::DeviceInfo& device, Launch* launch);

/// Options of a kernel that stores the sums themselves: -DIN0, -DTOTALS, -DDOT,
/// and -DWEIGHT_ZERO where sum(a') counts.
void AddTotalOptions(const ir::KernelNode& node, bool centered,
                     const ir::DeviceInfo& device, Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_BYTE_SUM_H_
