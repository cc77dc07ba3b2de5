// Images in the order of the model (channels last) and of the graph.
#ifndef TIM_MODELS_TFLITE_OPS_IMAGES_H_
#define TIM_MODELS_TFLITE_OPS_IMAGES_H_

#include <array>

#include "models/tflite/node.h"

namespace tim::models::tflite {

/// [N, ..., C] as [N, C, ...].  Layout inference takes such Transposes out
/// where all that is between two of them can compute in the other order.
Result<Value> ChannelsFirst(Node& node, const Value& value);
/// [N, C, ...] as [N, ..., C].
Result<Value> ChannelsLast(Node& node, const Value& value);
/// `made`, [N, C, ...], as output 0 behind an activation.
Status SetImage(Node& node, Result<Value> made, fbs::Activation activation);

/// Operands of a convolution: the image with its channels first, weights with
/// their axes in `order`, and the bias where there is one.
Result<std::vector<Value>> ConvolutionOperands(Node& node, size_t image,
                                               size_t weights, size_t bias,
                                               const std::vector<int>& order);

/// SAME or VALID; fails on others.
Result<vx::PadType> PaddingOf(Node& node, fbs::Padding padding);
/// Counts of width and height, from 1 on.
Result<std::array<uint32_t, 2>> Cells(Node& node, const char* what, int width,
                                      int height);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_OPS_IMAGES_H_
