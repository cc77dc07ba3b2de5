// Shapes that a model computes while it runs, worked out when it is read.
#ifndef TIM_MODELS_TFLITE_FOLD_H_
#define TIM_MODELS_TFLITE_FOLD_H_

#include "base/status.h"
#include "models/tflite/node.h"

namespace tim::models::tflite {

/// Sets the outputs of a node whose operands are small constants of plain
/// integers, or that asks for a shape; false: the node is no such one.
Result<bool> Fold(Node* node);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_FOLD_H_
