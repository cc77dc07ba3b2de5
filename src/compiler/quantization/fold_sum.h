// Sums of products of real values as exact sums of codes.
#ifndef TIM_COMPILER_QUANTIZATION_FOLD_SUM_H_
#define TIM_COMPILER_QUANTIZATION_FOLD_SUM_H_

#include "compiler/quantization/conversions.h"

namespace tim::compiler {

/// Whether the node is a sum of products (OpSchema::sum_channels).
bool IsSumOfProducts(const ir::Node& node);

/// Lets a sum of products read codes, where FoldQuantization() says so.
bool ReadFactors(Conversions* conversions, ir::NodeId id);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_QUANTIZATION_FOLD_SUM_H_
