// Axes that a Resize or an Upsample changes.
#ifndef TIM_MODELS_ONNX_OPS_IMAGES_RESIZE_AXES_H_
#define TIM_MODELS_ONNX_OPS_IMAGES_RESIZE_AXES_H_

#include <vector>

#include "base/status.h"
#include "models/build/value.h"
#include "models/onnx/node.h"
#include "models/onnx/ops/images/resampling.h"

namespace tim::models::onnx::images {

/// Attributes of Resize.
Result<Sampling> ReadSampling(const Node& node);
/// Axes of `value` from the operands scales, sizes and roi of Resize, with
/// their points; those that stay as they are are left out.
Result<std::vector<ResizedAxis>> ReadAxes(const Node& node,
                                          const Sampling& sampling,
                                          const Value& value);
/// Axes of `value` by one scale each.
Result<std::vector<ResizedAxis>> AxesByScales(const Sampling& sampling,
                                              const Value& value,
                                              const std::vector<float>& scales);

}  // namespace tim::models::onnx::images

#endif  // TIM_MODELS_ONNX_OPS_IMAGES_RESIZE_AXES_H_
