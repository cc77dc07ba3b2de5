// Formulas of ONNX's Resize for one axis.
#include "models/onnx/ops/images/resampling.h"

#include <algorithm>
#include <cmath>

#include "models/onnx/ops/operands.h"

namespace tim::models::onnx::images {
namespace {

/// The point of element `o` of the output, computed in T.
template <typename T>
T Point(const std::string& mode, const ResizedAxis& axis, T o) {
  const auto in = static_cast<T>(axis.in);
  const auto out = static_cast<T>(axis.out);
  const auto scale = static_cast<T>(axis.scale);
  const T half = static_cast<T>(0.5);
  if (mode == "asymmetric") return o / scale;
  if (mode == "half_pixel") return (o + half) / scale - half;
  if (mode == "tf_half_pixel_for_nn") return (o + half) / scale;
  if (mode == "pytorch_half_pixel") {
    return axis.out > 1 ? (o + half) / scale - half : 0;
  }
  if (mode == "align_corners") {
    return axis.out > 1 ? o * (in - 1) / (out - 1) : 0;
  }
  if (mode == "half_pixel_symmetric") {
    const T adjustment = out / (scale * in);
    const T offset = in / 2 * (1 - adjustment);
    return offset + (o + half) / scale - half;
  }
  // tf_crop_and_resize
  const T start = axis.roi_start, end = axis.roi_end;
  if (axis.out == 1) return half * (start + end) * (in - 1);
  return start * (in - 1) + o * (end - start) * (in - 1) / (out - 1);
}

constexpr const char* kModes[] = {
    "asymmetric",        "half_pixel",         "tf_half_pixel_for_nn",
    "align_corners",     "pytorch_half_pixel", "half_pixel_symmetric",
    "tf_crop_and_resize"};

double RoundedPoint(const std::string& mode, const ResizedAxis& axis,
                    double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::round(x);
  return axis.scale < 1 ? std::ceil(x) : std::floor(x);
}

constexpr const char* kNearestModes[] = {"floor", "ceil", "round_prefer_floor",
                                         "round_prefer_ceil", "simple"};

/// The filter of linear or cubic interpolation at the distance `d`.
double Filter(const Sampling& sampling, double d) {
  d = std::abs(d);
  if (sampling.interpolation == Interpolation::kLinear) {
    return std::max(0.0, 1 - d);
  }
  const double a = sampling.cubic_coefficient;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

template <typename Names>
bool IsOneOf(const std::string& name, const Names& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

Status FindPoints(const Sampling& sampling, ResizedAxis* axis) {
  if (!IsOneOf(sampling.coordinates, kModes)) {
    return InvalidArgument("attribute 'coordinate_transformation_mode' is '",
                           sampling.coordinates, "'");
  }
  if (axis->out > kMostMadeBytes / 8) {
    return Unimplemented(axis->out, " elements along axis ", axis->axis);
  }
  if (sampling.coordinates == "align_corners" && axis->is_given &&
      static_cast<float>(axis->scale) * static_cast<float>(axis->in) !=
          static_cast<float>(axis->out)) {
    return Unimplemented(
        "the scale ", static_cast<float>(axis->scale), " of axis ", axis->axis,
        " makes no whole number of ", axis->in,
        " elements, for which ONNX's text and its tests have other corners to "
        "align; give sizes");
  }
  axis->points.clear();
  for (int64_t o = 0; o < axis->out; ++o) {
    const double x =
        axis->is_given
            ? Point(sampling.coordinates, *axis, static_cast<float>(o))
            : Point(sampling.coordinates, *axis, static_cast<double>(o));
    if (!(std::abs(x) < 1e9)) {
      return InvalidArgument("element ", o, " of axis ", axis->axis,
                             " is sampled at ", x);
    }
    axis->points.push_back(x);
  }
  return OkStatus();
}

bool IsIdentity(const ResizedAxis& axis) {
  if (axis.in != axis.out) return false;
  for (int64_t o = 0; o < axis.out; ++o) {
    if (axis.points[o] != static_cast<double>(o)) return false;
  }
  return true;
}

Result<std::vector<int64_t>> NearestIndices(const Sampling& sampling,
                                            const ResizedAxis& axis) {
  if (!IsOneOf(sampling.nearest, kNearestModes)) {
    return InvalidArgument("attribute 'nearest_mode' is '", sampling.nearest,
                           "'");
  }
  std::vector<int64_t> indices;
  for (const double x : axis.points) {
    const auto index =
        static_cast<int64_t>(RoundedPoint(sampling.nearest, axis, x));
    indices.push_back(std::clamp<int64_t>(index, 0, axis.in - 1));
  }
  return indices;
}

Result<std::vector<float>> WeightMatrix(const Sampling& sampling,
                                        const ResizedAxis& axis) {
  if (axis.in > kMostMadeBytes / 4 / axis.out) {
    return Unimplemented("axis ", axis.axis, " from ", axis.in, " to ",
                         axis.out, " elements by this mode");
  }
  std::vector<float> matrix(static_cast<size_t>(axis.in * axis.out));
  std::vector<double> row(static_cast<size_t>(axis.in));
  const double stretch = sampling.antialias ? std::min(axis.scale, 1.0) : 1;
  const double reach =
      (sampling.interpolation == Interpolation::kLinear ? 1 : 2) / stretch;
  if (reach * static_cast<double>(axis.out) > kMostMadeBytes) {
    return Unimplemented("axis ", axis.axis, " by a filter of ", reach,
                         " elements to each side");
  }
  for (int64_t o = 0; o < axis.out; ++o) {
    const double x = axis.points[o];
    std::fill(row.begin(), row.end(), 0);
    double sum = 0;
    for (double j = std::ceil(x - reach); j <= std::floor(x + reach); ++j) {
      const auto place = static_cast<int64_t>(j);
      const auto index = std::clamp<int64_t>(place, 0, axis.in - 1);
      if (sampling.exclude_outside && place != index) continue;
      const double weight = Filter(sampling, (j - x) * stretch);
      row[index] += weight;
      sum += weight;
    }
    const bool normed = sampling.antialias || sampling.exclude_outside;
    if (normed && !(std::abs(sum) > 1e-12)) {
      return InvalidArgument("element ", o, " of axis ", axis.axis,
                             " has no weights to be divided by");
    }
    for (int64_t i = 0; i < axis.in; ++i) {
      matrix[o * axis.in + i] =
          static_cast<float>(normed ? row[i] / sum : row[i]);
    }
  }
  return matrix;
}

std::vector<uint8_t> Inside(const Sampling& sampling, const ResizedAxis& axis) {
  std::vector<uint8_t> inside;
  if (sampling.coordinates != "tf_crop_and_resize") return inside;
  bool all = true;
  for (const double x : axis.points) {
    inside.push_back(x >= 0 && x <= static_cast<double>(axis.in - 1));
    all = all && inside.back() != 0;
  }
  return all ? std::vector<uint8_t>() : inside;
}

}  // namespace tim::models::onnx::images
