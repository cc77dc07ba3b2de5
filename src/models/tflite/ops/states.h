// States of recurrent layers, and what both kinds of them have in common.
#ifndef TIM_MODELS_TFLITE_OPS_STATES_H_
#define TIM_MODELS_TFLITE_OPS_STATES_H_

#include "models/tflite/node.h"

namespace tim::models::tflite {

/// The state that operand `input` is, in extents `dims`, its elements being as
/// many; absent where the operand is.
Result<Value> ReadState(Node& node, size_t input, const Dims& dims);
/// The next state as the layer is to make it: in the type and quantization of
/// the state, of the sequence where the operand is absent.
Wanted StateWanted(const Node& node, size_t input, const Dims& dims);
/// The run leaves `next` in the operand, where that is a variable.
void WriteState(Node& node, size_t input, const Value& next);

/// Two sequences as outputs 0 and 1, or joined along the last axis as
/// output 0.
Status SetDirections(Node& node, const Value& forward, const Value& backward,
                     bool merges);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_OPS_STATES_H_
