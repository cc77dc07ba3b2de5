// The part of AddShapes() that lies in a file of its own.
#ifndef TIM_MODELS_ONNX_OPS_SHAPES_H_
#define TIM_MODELS_ONNX_OPS_SHAPES_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

void AddSignalWindows(OperatorTable* table);  // HannWindow, MelWeightMatrix ...

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_SHAPES_H_
