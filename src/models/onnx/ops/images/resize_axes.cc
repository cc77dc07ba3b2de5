// Attributes and operands of ONNX's Resize, opsets 10 to 21.
#include "models/onnx/ops/images/resize_axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "models/onnx/ops/movement/moves.h"

namespace tim::models::onnx::images {
namespace {

constexpr float kMostExtent = 2147483520.0f;  // Below 2^31.

/// Extents, scales and regions, one each for every named axis.
struct Operands {
  std::vector<int> axes;
  std::vector<float> scales, roi;
  std::vector<int64_t> sizes;
};

bool IsGiven(const Node& node, size_t input) {
  return node.Has(input) && node.inputs[input].ElementCount() != 0;
}

Result<Operands> ReadOperands(const Node& node, int rank) {
  Operands operands;
  const bool has_sizes = node.opset >= 11;
  if (node.HasAttribute("axes")) {
    TIM_ASSIGN_OR_RETURN(const auto axes, node.Ints("axes"));
    for (const int64_t axis : axes) {
      TIM_ASSIGN_OR_RETURN(const int place, PositiveAxis(axis, rank));
      if (std::count(operands.axes.begin(), operands.axes.end(), place) != 0) {
        return InvalidArgument("attribute 'axes' has ", axis, " twice");
      }
      operands.axes.push_back(place);
    }
  } else {
    for (int axis = 0; axis < rank; ++axis) operands.axes.push_back(axis);
  }
  const size_t scales = has_sizes ? 2 : 1;
  if (IsGiven(node, scales)) {
    TIM_ASSIGN_OR_RETURN(operands.scales, node.ConstantFloats(scales));
  }
  if (has_sizes && IsGiven(node, 3)) {
    TIM_ASSIGN_OR_RETURN(operands.sizes, node.ConstantInts(3));
  }
  if (has_sizes && IsGiven(node, 1)) {
    TIM_ASSIGN_OR_RETURN(operands.roi, node.ConstantFloats(1));
  }
  if (operands.scales.empty() == operands.sizes.empty()) {
    return InvalidArgument("one of scales and sizes must be there");
  }
  const size_t count = operands.axes.size();
  if (operands.scales.size() + operands.sizes.size() != count) {
    return InvalidArgument("scales or sizes have ",
                           operands.scales.size() + operands.sizes.size(),
                           " values for ", count, " axes");
  }
  return operands;
}

Result<ResizedAxis> ByScale(const Value& value, int axis, float scale,
                            float part) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    return InvalidArgument("the scale of axis ", axis, " is ", scale);
  }
  ResizedAxis made;
  made.axis = axis;
  made.in = value.dims[axis];
  made.scale = scale;
  made.is_given = true;
  const float extent = std::floor(static_cast<float>(made.in) * part * scale);
  if (!(extent >= 1 && extent <= kMostExtent)) {
    return InvalidArgument("the scale ", scale, " of axis ", axis, " makes ",
                           extent, " elements of ", made.in);
  }
  made.out = static_cast<int64_t>(extent);
  return made;
}

Result<ResizedAxis> BySize(const Value& value, int axis, int64_t size) {
  if (size < 1 || size > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("the size of axis ", axis, " is ", size);
  }
  ResizedAxis made;
  made.axis = axis;
  made.in = value.dims[axis];
  made.out = size;
  made.scale = static_cast<double>(size) / static_cast<double>(made.in);
  return made;
}

/// One scale for all axes, by keep_aspect_ratio_policy.
Status KeepAspect(const std::string& policy, std::vector<ResizedAxis>* axes) {
  if (policy == "stretch") return OkStatus();
  if (policy != "not_larger" && policy != "not_smaller") {
    return InvalidArgument("attribute 'keep_aspect_ratio_policy' is '", policy,
                           "', expected stretch, not_larger or not_smaller");
  }
  double scale = (*axes)[0].scale;
  for (const ResizedAxis& axis : *axes) {
    scale = policy == "not_larger" ? std::min(scale, axis.scale)
                                   : std::max(scale, axis.scale);
  }
  for (ResizedAxis& axis : *axes) {
    const double extent =
        std::floor(scale * static_cast<double>(axis.in) + 0.5);
    if (!(extent >= 1 && extent <= kMostExtent)) {
      return InvalidArgument("the sizes make ", extent, " elements of axis ",
                             axis.axis);
    }
    axis.out = static_cast<int64_t>(extent);
    axis.scale = scale;
  }
  return OkStatus();
}

/// Finds points; axes on which nothing changes are left out.
Result<std::vector<ResizedAxis>> WithPoints(const Sampling& sampling,
                                            std::vector<ResizedAxis> axes) {
  std::vector<ResizedAxis> changed;
  for (ResizedAxis& axis : axes) {
    TIM_RETURN_IF_ERROR(FindPoints(sampling, &axis));
    if (!IsIdentity(axis)) changed.push_back(std::move(axis));
  }
  return changed;
}

}  // namespace

Result<Sampling> ReadSampling(const Node& node) {
  Sampling sampling;
  TIM_ASSIGN_OR_RETURN(const std::string mode, node.Text("mode", "nearest"));
  if (mode == "linear") {
    sampling.interpolation = Interpolation::kLinear;
  } else if (mode == "cubic" && node.opset >= 11) {
    sampling.interpolation = Interpolation::kCubic;
  } else if (mode != "nearest") {
    return InvalidArgument("attribute 'mode' is '", mode,
                           "', expected nearest, linear or, from opset 11 on, "
                           "cubic");
  }
  if (node.opset < 11) {
    sampling.coordinates = "asymmetric";
    sampling.nearest = "simple";
    return sampling;
  }
  TIM_ASSIGN_OR_RETURN(
      sampling.coordinates,
      node.Text("coordinate_transformation_mode", sampling.coordinates));
  TIM_ASSIGN_OR_RETURN(sampling.nearest,
                       node.Text("nearest_mode", sampling.nearest));
  TIM_ASSIGN_OR_RETURN(sampling.cubic_coefficient,
                       node.Float("cubic_coeff_a", sampling.cubic_coefficient));
  TIM_ASSIGN_OR_RETURN(const int64_t antialias, node.Int("antialias", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t exclude, node.Int("exclude_outside", 0));
  TIM_ASSIGN_OR_RETURN(sampling.extrapolation,
                       node.Float("extrapolation_value", 0));
  sampling.antialias = antialias != 0;
  sampling.exclude_outside = exclude != 0;
  if (!std::isfinite(sampling.cubic_coefficient)) {
    return InvalidArgument("attribute 'cubic_coeff_a' is ",
                           sampling.cubic_coefficient);
  }
  return sampling;
}

Result<std::vector<ResizedAxis>> AxesByScales(
    const Sampling& sampling, const Value& value,
    const std::vector<float>& scales) {
  if (scales.size() != value.dims.size()) {
    return InvalidArgument(scales.size(), " scales for an input of rank ",
                           value.rank());
  }
  std::vector<ResizedAxis> axes;
  for (int axis = 0; axis < value.rank(); ++axis) {
    TIM_ASSIGN_OR_RETURN(ResizedAxis made,
                         ByScale(value, axis, scales[axis], 1));
    axes.push_back(std::move(made));
  }
  return WithPoints(sampling, std::move(axes));
}

Result<std::vector<ResizedAxis>> ReadAxes(const Node& node,
                                          const Sampling& sampling,
                                          const Value& value) {
  TIM_ASSIGN_OR_RETURN(const Operands operands,
                       ReadOperands(node, value.rank()));
  const size_t count = operands.axes.size();
  const bool crops = sampling.coordinates == "tf_crop_and_resize";
  if (crops && operands.roi.size() != 2 * count) {
    return InvalidArgument("operand 1 has ", operands.roi.size(),
                           " corners of a region of ", count, " axes");
  }
  std::vector<ResizedAxis> axes;
  for (size_t i = 0; i < count; ++i) {
    const float start = crops ? operands.roi[i] : 0;
    const float end = crops ? operands.roi[i + count] : 1;
    ResizedAxis made;
    if (operands.sizes.empty()) {
      TIM_ASSIGN_OR_RETURN(made, ByScale(value, operands.axes[i],
                                         operands.scales[i], end - start));
    } else {
      TIM_ASSIGN_OR_RETURN(made,
                           BySize(value, operands.axes[i], operands.sizes[i]));
    }
    made.roi_start = start;
    made.roi_end = end;
    axes.push_back(std::move(made));
  }
  TIM_ASSIGN_OR_RETURN(const std::string policy,
                       node.Text("keep_aspect_ratio_policy", "stretch"));
  if (!operands.sizes.empty() && !axes.empty()) {
    TIM_RETURN_IF_ERROR(KeepAspect(policy, &axes));
  }
  return WithPoints(sampling, std::move(axes));
}

}  // namespace tim::models::onnx::images
