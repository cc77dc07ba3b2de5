// The parts of AddElementwise(), a file each.
#ifndef TIM_MODELS_ONNX_OPS_ELEMENTWISE_ELEMENTWISE_H_
#define TIM_MODELS_ONNX_OPS_ELEMENTWISE_ELEMENTWISE_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

void AddUnary(OperatorTable* table);        // Abs, Exp, Asinh ...
void AddActivations(OperatorTable* table);  // Relu, Elu, PRelu, Gelu ...
void AddClips(OperatorTable* table);        // Clip
void AddBinary(OperatorTable* table);       // Add, Pow, Max, Mean ...
void AddLogic(OperatorTable* table);        // And, Equal, Where, IsNaN ...
void AddBits(OperatorTable* table);         // BitShift, BitwiseNot
void AddCasts(OperatorTable* table);        // Cast, Identity, Dropout

/// `x` as `type` by ONNX's rules for Cast: floats are truncated (and saturated,
/// where ONNX leaves it open), integers keep their low bits.
Result<Value> Converted(Node& node, const Value& x, vx::DataType type);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_ELEMENTWISE_ELEMENTWISE_H_
