// The parts of AddSignals(), a file each.
#ifndef TIM_MODELS_ONNX_OPS_SIGNALS_SIGNALS_H_
#define TIM_MODELS_ONNX_OPS_SIGNALS_SIGNALS_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

void AddSignalWindows(OperatorTable* table);  // HannWindow, MelWeightMatrix ...
void AddTransforms(OperatorTable* table);     // DFT, STFT

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_SIGNALS_SIGNALS_H_
