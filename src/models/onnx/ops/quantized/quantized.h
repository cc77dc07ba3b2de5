// The parts of AddQuantized() and AddContributed() on codes, a file each.
#ifndef TIM_MODELS_ONNX_OPS_QUANTIZED_QUANTIZED_H_
#define TIM_MODELS_ONNX_OPS_QUANTIZED_QUANTIZED_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

void AddConversions(OperatorTable* table);    // QuantizeLinear ...
void AddCodeProducts(OperatorTable* table);   // QLinearConv, QLinearMatMul ...
void AddCodeOperators(OperatorTable* table);  // QLinearAdd ... of com.microsoft

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_QUANTIZED_QUANTIZED_H_
