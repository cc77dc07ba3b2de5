// Dequantize -> operator -> Quantize becomes the operator on codes.
#ifndef TIM_COMPILER_QUANTIZATION_FOLD_QUANTIZATION_H_
#define TIM_COMPILER_QUANTIZATION_FOLD_QUANTIZATION_H_

#include "base/status.h"
#include "ir/graph.h"

namespace tim::compiler {

/// How many nodes FoldQuantization() let read or write codes.
struct FoldedQuantization {
  int sums = 0;      ///< Sums of products, of 8-bit factors.
  int elements = 0;  ///< Other operators.
};

/// Rewrites a graph of known types whose graph outputs are declared.  Its
/// DataConverts with the attribute `foldable` from and to quantized 8-bit
/// tensors go behind and before operators that only move elements, then into
/// the operators that read and make them.
///
/// Element-wise operators keep their results to the bit, but for ties of a
/// result whose zero point is odd, and for those of two quantized operands:
/// FloorDiv of these may differ by a quotient.  Sums of products, but for
/// Conv3d, become exact sums of integers where their weights are constants of
/// zero point 0, with a scale for all or for each channel of the output, their
/// bias is absent or a constant, in units of the products or beside codes that
/// are no finer, and what they make reaches Quantize alone: results may differ
/// by one code.  All others stay float32.
Result<FoldedQuantization> FoldQuantization(ir::Graph* graph);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_QUANTIZATION_FOLD_QUANTIZATION_H_
