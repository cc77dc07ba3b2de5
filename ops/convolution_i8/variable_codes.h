// Weights and biases of convolutions of 8-bit codes that are no constants:
// launches make of them, in every run, what kernels read.
#ifndef TIM_OPS_CONVOLUTION_I8_VARIABLE_CODES_H_
#define TIM_OPS_CONVOLUTION_I8_VARIABLE_CODES_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"
#include "ops/convolution_i8/packed_codes.h"
#include "ops/elements/byte_sum.h"
#include "ops/launch/packed.h"

namespace tim::ops {

/// True where weights and bias are constants: CheckConstantSums() looks at
/// them.
bool HasConstantCodes(const ir::KernelNode& node);

/// Ok, or why exact sums of 32 bits do not do for every value that weights or
/// bias may have.
Status CheckVariableCodes(const ir::KernelNode& node,
                          const ByteWeights& weights);

/// True where all weights of the type are signed bytes, less their zero points.
bool IsCentered(const ir::TensorDesc& weights);

/// Weights and bias of the convolution that a launch packs.
struct VariableCodes {
  /// Scratch of dense weights [Kw, Kh, Ic, Oc] that an earlier launch wrote, in
  /// Lowering::scratch; -1: those of the node.
  int scratch = -1;
  /// Of a sum, without those whose weights are zero points whatever comes.
  int64_t terms = 1;
  /// Output channel c has element c % bias_period of the bias, if that is less
  /// than bias_count.
  int64_t bias_period = 1;
  int64_t bias_count = 1;
};
/// The node's own.
VariableCodes VariableCodesOf(const ByteWeights& weights);

/// Operands that a kernel reads beside the input: constants that were packed at
/// Compile, or scratch that launches write.
struct CodeOperands {
  PackedOperand weights;
  PackedOperand channels;
  bool centered = true;  ///< Every zp is 0.
};

/// The parameter `weights` of a launch that packs them.
void AddWeights(const ir::KernelNode& node, const VariableCodes& codes,
                Launch* launch);

/// Which zp channels have: those of ByteShiftsOf() or WholeShifts().
enum class CodeZeros : uint8_t { kOfWeights, kNone };

/// The table of ByteTable() by a launch that is added to `lowering`; `shifts`:
/// those of weights that are constant.
Result<PackedOperand> VariableTable(const ir::KernelNode& node,
                                    const ByteWeights& weights,
                                    const ByteShifts& shifts,
                                    const VariableCodes& codes, CodeZeros zeros,
                                    ir::Lowering* lowering);

/// Work-items with vectors, for CPUs, or one for every word, for GPUs.
enum class PackingItems : uint8_t { kVectors, kWords };

/// Weights as PackedCodeWeights() packs them, with the zp of `table`.
Result<PackedOperand> VariableWeights(
    const ir::KernelNode& node, const Conv2dShape& shape,
    const PackedCodes& packed, const VariableCodes& codes,
    const PackedOperand& table, PackingItems items, ir::Lowering* lowering);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_I8_VARIABLE_CODES_H_
