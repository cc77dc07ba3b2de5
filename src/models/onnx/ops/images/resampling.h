// Points and weights with which an axis is sampled when it is resized.
#ifndef TIM_MODELS_ONNX_OPS_IMAGES_RESAMPLING_H_
#define TIM_MODELS_ONNX_OPS_IMAGES_RESAMPLING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace tim::models::onnx::images {

enum class Interpolation { kNearest, kLinear, kCubic };

/// Attributes of Resize that hold for all axes.
struct Sampling {
  Interpolation interpolation = Interpolation::kNearest;
  /// coordinate_transformation_mode.
  std::string coordinates = "half_pixel";
  /// nearest_mode; "simple": that of opsets before 11, the element before, or
  /// the one after where the axis shrinks.
  std::string nearest = "round_prefer_floor";
  float cubic_coefficient = -0.75f;
  bool antialias = false;
  bool exclude_outside = false;
  float extrapolation = 0;
};

/// One axis that is resized.
struct ResizedAxis {
  int axis = 0;
  int64_t in = 0, out = 0;
  double scale = 1;
  /// Whether `scale` is an operand: then points are computed in float32, as
  /// its rounding is meant to be undone; else they are exact.
  bool is_given = false;
  float roi_start = 0, roi_end = 1;
  /// Coordinate in the input of each element of the output.
  std::vector<double> points;
};

/// Sets `points`; fails on modes that ONNX does not have and where a point is
/// no number.
Status FindPoints(const Sampling& sampling, ResizedAxis* axis);
/// Whether every element is at its own place.
bool IsIdentity(const ResizedAxis& axis);
/// The element that is taken for each one of the output.
Result<std::vector<int64_t>> NearestIndices(const Sampling& sampling,
                                            const ResizedAxis& axis);
/// The matrix [out, in] of weights.
Result<std::vector<float>> WeightMatrix(const Sampling& sampling,
                                        const ResizedAxis& axis);
/// Whether the point of each element of the output lies in the input; empty
/// where all do, or points outside have no value of their own.
std::vector<uint8_t> Inside(const Sampling& sampling, const ResizedAxis& axis);

}  // namespace tim::models::onnx::images

#endif  // TIM_MODELS_ONNX_OPS_IMAGES_RESAMPLING_H_
