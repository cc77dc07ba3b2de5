// Elements of images that points between them are made of.
#ifndef TIM_MODELS_ONNX_OPS_IMAGES_TAPS_H_
#define TIM_MODELS_ONNX_OPS_IMAGES_TAPS_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "models/onnx/ops/images/formula.h"

namespace tim::models::onnx::images {

/// An element of one axis that a point reads: its index, within the axis, and
/// its weight.
struct Tap {
  Formula index, weight;
};

/// A tap at the whole number `at`; of weight 0 where that is outside.
Tap TapWithin(const Formula& at, const Formula& weight, float extent);
/// Both neighbours of `x`, with the weights of linear interpolation.
std::vector<Tap> LinearTaps(const Formula& x, int64_t extent);

/// Taps of several axes as taps of the elements of all, counted in one.
std::vector<Tap> Combined(const std::vector<Tap>& outer,
                          const std::vector<Tap>& inner, int64_t extent);

/// The sum of weighted elements, [N, C, points], of an image [N, C, ...] whose
/// planes have `elements`; taps are [N, points], their weights also scalars.
Result<Value> Sampled(const Value& image, const std::vector<Tap>& taps,
                      int64_t elements, int64_t points);

}  // namespace tim::models::onnx::images

#endif  // TIM_MODELS_ONNX_OPS_IMAGES_TAPS_H_
