// Constants made of constants.
#ifndef TIM_MODELS_TFLITE_CONSTANTS_H_
#define TIM_MODELS_TFLITE_CONSTANTS_H_

#include <vector>

#include "base/status.h"
#include "models/build/value.h"

namespace tim::models::tflite {

/// Axis i of the result is axis order[i] of `array`, a permutation of its
/// axes.  The bytes are shared where they stay in their order.
HostArray PermutedArray(const HostArray& array, const std::vector<int>& order);

/// Real values of the elements, by the quantization, as FLOAT32.
Result<HostArray> DequantizedArray(const HostArray& array,
                                   const vx::Quantization& quantization);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_CONSTANTS_H_
