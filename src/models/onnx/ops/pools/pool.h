// Pools as operations of the graph, for all nodes that are made of one.
#ifndef TIM_MODELS_ONNX_OPS_POOLS_POOL_H_
#define TIM_MODELS_ONNX_OPS_POOLS_POOL_H_

#include "models/onnx/node.h"
#include "models/onnx/ops/convolutions/windows.h"

namespace tim::models::onnx {

/// Cells that an average is divided by: those in the input, those in the padded
/// input, or all of a window.
enum class Divisor { kInside, kPadded, kWindow };

/// The windows of a pool over x [N, C, spatial...], by the attributes
/// kernel_shape, strides, dilations, pads, auto_pad and ceil_mode.
Result<Windows> PoolWindows(const Node& node, const Value& x);

/// The mean of every window, of x's type and this quantization.
Result<Value> AverageOfWindows(GraphBuilder* builder, const Value& x,
                               const Windows& windows, Divisor divisor,
                               const vx::Quantization& quantization = {});
/// The greatest element of every window, of x's type and quantization.
Result<Value> GreatestOfWindows(GraphBuilder* builder, const Value& x,
                                const Windows& windows);
/// The mean of all spatial elements, which keep extents of 1.
Result<Value> AverageOfAll(GraphBuilder* builder, const Value& x,
                           const vx::Quantization& quantization = {});

/// [N, C, spatial...] of these spatial extents.
Dims PooledDims(const Value& x, const Dims& spatial);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_POOLS_POOL_H_
