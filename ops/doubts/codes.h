// Doubts about integers without quantization beside quantized ones.
#ifndef TIM_OPS_DOUBTS_CODES_H_
#define TIM_OPS_DOUBTS_CODES_H_

#include <string>
#include <vector>

#include "ir/op_schema.h"

namespace tim::ops {

using Doubts = std::vector<std::string>;

/// Adds, of these inputs and outputs, those of at most 8 bits without
/// quantization, whose codes count as real numbers, where another of them is
/// quantized.  Indices beyond the node's operands and absent ones do not count.
void AddCodesDoubt(const ir::NodeView& view, const std::vector<int>& inputs,
                   const std::vector<int>& outputs, Doubts* doubts);
/// The same of all operands.
Doubts AllCodes(const ir::NodeView& view);
/// The same of input 0 and output 0.
Doubts FirstCodes(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_DOUBTS_CODES_H_
