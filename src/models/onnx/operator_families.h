// The operators that are taken, a function per family.
#ifndef TIM_MODELS_ONNX_OPERATOR_FAMILIES_H_
#define TIM_MODELS_ONNX_OPERATOR_FAMILIES_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

// Each stands in a file of its own, src/models/onnx/ops/<family>.cc.
void AddElementwise(OperatorTable* table);   // Add, Relu, Erf, Where, Cast ...
void AddReductions(OperatorTable* table);    // ReduceSum, ArgMax, CumSum ...
void AddConvolutions(OperatorTable* table);  // Conv, ConvTranspose
void AddPools(OperatorTable* table);         // MaxPool, GlobalAveragePool ...
void AddProducts(OperatorTable* table);      // MatMul, Gemm, Einsum
void AddNormalizations(
    OperatorTable* table);                  // BatchNormalization, Softmax ...
void AddRecurrent(OperatorTable* table);    // LSTM, GRU, RNN
void AddQuantized(OperatorTable* table);    // QuantizeLinear, QLinearConv ...
void AddContributed(OperatorTable* table);  // com.microsoft
void AddMovement(OperatorTable* table);     // Reshape, Slice, Pad, Tile ...
void AddGathers(OperatorTable* table);      // Gather, ScatterND, TopK ...
void AddShapes(OperatorTable* table);       // Shape, ConstantOfShape, Range
void AddImages(OperatorTable* table);       // Resize, RoiAlign, GridSample ...

/// All of the above.
const OperatorTable& Operators();

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPERATOR_FAMILIES_H_
