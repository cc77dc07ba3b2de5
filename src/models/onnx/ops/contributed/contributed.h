// The parts of AddContributed(), a file each.
#ifndef TIM_MODELS_ONNX_OPS_CONTRIBUTED_CONTRIBUTED_H_
#define TIM_MODELS_ONNX_OPS_CONTRIBUTED_CONTRIBUTED_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

void AddFused(OperatorTable* table);       // FusedConv, FusedGemm, BiasGelu ...
void AddAttention(OperatorTable* table);   // Attention, MultiHeadAttention
void AddEmbeddings(OperatorTable* table);  // SkipLayerNormalization ...
/// MatMulNBits, DynamicQuantizeMatMul, MatMulIntegerToFloat.
void AddDynamicProducts(OperatorTable* table);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_CONTRIBUTED_CONTRIBUTED_H_
