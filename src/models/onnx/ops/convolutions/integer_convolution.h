// Convolutions of 8-bit codes, as exact integers.
#ifndef TIM_MODELS_ONNX_OPS_CONVOLUTIONS_INTEGER_CONVOLUTION_H_
#define TIM_MODELS_ONNX_OPS_CONVOLUTIONS_INTEGER_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "models/onnx/ops/convolutions/convolve.h"

namespace tim::models::onnx {

/// Sums of the weights [O, C / group, Kh, Kw] that lie inside of the input, for
/// each place of each output channel: [O, H, W], those of the result.
/// \param weights INT8, UINT8 or INT16.
std::vector<int32_t> InsideSums(const HostArray& weights,
                                const Windows& windows);

/// The convolution of the codes `it.x`, less `zero` (one element, or absent:
/// 0), with weights that Centered() made; pads are as `zero`.  INT32.
Result<Value> IntegerConvolution(GraphBuilder* builder, const Convolution& it,
                                 const Value& zero);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_CONVOLUTIONS_INTEGER_CONVOLUTION_H_
