// Conversions of codes on the other side of operators that only move elements.
#ifndef TIM_COMPILER_QUANTIZATION_MOVE_CONVERSIONS_H_
#define TIM_COMPILER_QUANTIZATION_MOVE_CONVERSIONS_H_

#include <vector>

#include "compiler/quantization/conversions.h"

namespace tim::compiler {

/// Dequantize -> mover -> Quantize: the mover moves codes, wherever it stands
/// behind the one or before the other.  Its channels keep their scales.
/// \param order nodes, producers before consumers.
void MoveConversions(Conversions* conversions,
                     const std::vector<ir::NodeId>& order);

/// Operator of one operand -> Quantize becomes Quantize -> operator, on codes
/// of that quantization; false where it is not followed by Quantize.
bool HoistQuantize(Conversions* conversions, ir::NodeId id);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_QUANTIZATION_MOVE_CONVERSIONS_H_
