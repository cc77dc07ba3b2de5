// Resize and Upsample of ONNX: the graph's Resize where it samples the same
// points, else each axis by a matrix of weights or by chosen elements.
#include "tim/vx/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/onnx/ops/images/images.h"
#include "models/onnx/ops/images/resampling.h"
#include "models/onnx/ops/images/resize_axes.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/matmul.h"
#include "tim/vx/ops/select.h"

namespace tim::models::onnx::images {
namespace {

/// The flags of the graph's Resize.
struct Flags {
  bool align_corners, half_pixel_centers;
};
constexpr Flags kFlags[] = {{false, true}, {false, false}, {true, false}};

/// Points of the graph's Resize along an axis; include/tim/vx/ops/resize.h.
float GraphPoint(const Flags& flags, const ResizedAxis& axis, int64_t o) {
  const auto in = static_cast<float>(axis.in);
  const auto out = static_cast<float>(axis.out);
  const float scale =
      flags.align_corners && axis.out > 1 ? (in - 1) / (out - 1) : in / out;
  const float half = flags.half_pixel_centers ? 0.5f : 0.0f;
  return (static_cast<float>(o) + half) * scale;
}

/// Whether the graph's Resize takes the elements `indices`.
bool TakesThem(const Flags& flags, const ResizedAxis& axis,
               const std::vector<int64_t>& indices) {
  for (int64_t o = 0; o < axis.out; ++o) {
    const float x =
        GraphPoint(flags, axis, o) + (flags.align_corners ? 0.5f : 0.0f);
    if (std::min(static_cast<int64_t>(x), axis.in - 1) != indices[o]) {
      return false;
    }
  }
  return true;
}

/// Whether the graph's Resize blends at the points of `axis`, in the range in
/// which they matter.
bool BlendsThere(const Flags& flags, const ResizedAxis& axis) {
  const auto last = static_cast<double>(axis.in - 1);
  const double near = 1e-6 * static_cast<double>(axis.in + axis.out);
  for (int64_t o = 0; o < axis.out; ++o) {
    const double x =
        GraphPoint(flags, axis, o) - (flags.half_pixel_centers ? 0.5f : 0.0f);
    const double difference =
        std::clamp(x, 0.0, last) - std::clamp(axis.points[o], 0.0, last);
    if (!(std::abs(difference) <= near)) return false;
  }
  return true;
}

Result<bool> SamplesAlike(const Sampling& sampling, const Flags& flags,
                          const ResizedAxis& axis) {
  if (sampling.interpolation == Interpolation::kNearest) {
    TIM_ASSIGN_OR_RETURN(const auto indices, NearestIndices(sampling, axis));
    return TakesThem(flags, axis, indices);
  }
  return sampling.interpolation == Interpolation::kLinear &&
         !sampling.exclude_outside && !(sampling.antialias && axis.scale < 1) &&
         BlendsThere(flags, axis);
}

/// Whether `axis` is one of the two that the graph's Resize changes.
bool IsInPlane(const ResizedAxis& axis, int rank) {
  return axis.axis >= rank - 2;
}

/// Flags with which the graph's Resize does those of `axes` that lie in the
/// plane; none where there is no such axis, or no such flags.
Result<std::optional<Flags>> PlaneFlags(const Sampling& sampling,
                                        const std::vector<ResizedAxis>& axes,
                                        int rank) {
  if (rank < 2) return std::optional<Flags>();
  for (const Flags& flags : kFlags) {
    bool alike = true, any = false;
    for (const ResizedAxis& axis : axes) {
      if (!alike || !IsInPlane(axis, rank)) continue;
      TIM_ASSIGN_OR_RETURN(alike, SamplesAlike(sampling, flags, axis));
      // An operation that changes no extent does not sample.
      any = any || axis.in != axis.out;
    }
    if (alike && any) return std::optional<Flags>(flags);
  }
  return std::optional<Flags>();
}

/// `value` with one axis resized, by a matrix of weights.
Result<Value> Weighted(GraphBuilder* builder, const Value& value,
                       const ResizedAxis& axis, const Sampling& sampling) {
  TIM_ASSIGN_OR_RETURN(const auto weights, WeightMatrix(sampling, axis));
  const Value matrix = builder->ConstantOf(weights, {axis.out, axis.in});
  TIM_ASSIGN_OR_RETURN(const int64_t outer, Extent(value.dims, 0, axis.axis));
  TIM_ASSIGN_OR_RETURN(const int64_t inner,
                       Extent(value.dims, axis.axis + 1, value.dims.size()));
  Dims dims = value.dims;
  dims[axis.axis] = axis.out;
  Value made;
  if (inner == 1) {
    TIM_ASSIGN_OR_RETURN(const Value rows,
                         builder->Reshape(value, {outer, axis.in}));
    TIM_ASSIGN_OR_RETURN(
        made,
        builder->Add<vx::ops::Matmul>(
            {rows, matrix},
            Wanted::Of(vx::DataType::FLOAT32, {outer, axis.out}), false, true));
  } else {
    TIM_ASSIGN_OR_RETURN(const Value planes,
                         builder->Reshape(value, {outer, axis.in, inner}));
    TIM_ASSIGN_OR_RETURN(
        made, builder->Add<vx::ops::Matmul>(
                  {matrix, planes},
                  Wanted::Of(vx::DataType::FLOAT32, {outer, axis.out, inner}),
                  false, false));
  }
  return builder->Reshape(made, dims);
}

/// `extrapolation_value` where a point of an axis lies outside.
Result<Value> Extrapolated(GraphBuilder* builder, Value value,
                           const std::vector<ResizedAxis>& axes,
                           const Sampling& sampling) {
  for (const ResizedAxis& axis : axes) {
    const std::vector<uint8_t> inside = Inside(sampling, axis);
    if (inside.empty()) continue;
    Dims dims(value.dims.size() - axis.axis, 1);
    dims[0] = axis.out;
    const Value mask = BoolConstant(builder, inside, dims);
    TIM_ASSIGN_OR_RETURN(
        const Value other,
        InTypeOf(builder,
                 builder->ConstantOf(std::vector<float>{sampling.extrapolation},
                                     {1}),
                 value));
    TIM_ASSIGN_OR_RETURN(
        value, builder->Add<vx::ops::Select>({mask, value, other},
                                             Moved(value, value.dims)));
  }
  return value;
}

/// The graph's Resize of the plane, by `flags`.
Result<Value> ResizedPlane(GraphBuilder* builder, const Value& value,
                           const std::vector<ResizedAxis>& axes,
                           const Sampling& sampling, const Flags& flags) {
  Dims dims = value.dims;
  const int rank = value.rank();
  for (const ResizedAxis& axis : axes) {
    if (IsInPlane(axis, rank)) dims[axis.axis] = axis.out;
  }
  const auto type = sampling.interpolation == Interpolation::kNearest
                        ? vx::ResizeType::NEAREST_NEIGHBOR
                        : vx::ResizeType::BILINEAR;
  return builder->Add<vx::ops::Resize>(
      {value}, Moved(value, dims), type, 0.0f, flags.align_corners,
      flags.half_pixel_centers, static_cast<int>(dims[rank - 2]),
      static_cast<int>(dims[rank - 1]));
}

Result<Value> Resized(GraphBuilder* builder, const Value& given,
                      std::vector<ResizedAxis> axes, const Sampling& sampling) {
  if (given.ElementCount() == 0) {
    return Unimplemented("operand 0 is ", Describe(given),
                         ", which has no elements");
  }
  const bool nearest = sampling.interpolation == Interpolation::kNearest;
  const bool plain = given.quantization.Type() == vx::QuantType::NONE;
  if (!nearest && plain && !IsFloat(given.type)) {
    return Unimplemented("operand 0 is ", TypeText(given.type),
                         "; modes linear and cubic take float, float16 and "
                         "what is quantized");
  }
  const std::vector<ResizedAxis> all = axes;
  Value value = given;
  TIM_ASSIGN_OR_RETURN(const auto flags,
                       PlaneFlags(sampling, axes, value.rank()));
  if (flags) {
    TIM_ASSIGN_OR_RETURN(value,
                         ResizedPlane(builder, value, axes, sampling, *flags));
    std::erase_if(axes, [&](const ResizedAxis& axis) {
      return IsInPlane(axis, given.rank());
    });
  }
  if (!nearest && !axes.empty()) {
    TIM_ASSIGN_OR_RETURN(value, AsFloat(builder, value));
  }
  // Axes that shrink come first: there is less to do for the others.
  std::stable_sort(axes.begin(), axes.end(),
                   [](const ResizedAxis& a, const ResizedAxis& b) {
                     return static_cast<double>(a.out) / a.in <
                            static_cast<double>(b.out) / b.in;
                   });
  for (const ResizedAxis& axis : axes) {
    if (nearest) {
      TIM_ASSIGN_OR_RETURN(const auto indices, NearestIndices(sampling, axis));
      TIM_ASSIGN_OR_RETURN(value,
                           TakeIndices(builder, value, axis.axis, indices));
    } else {
      TIM_ASSIGN_OR_RETURN(value, Weighted(builder, value, axis, sampling));
    }
  }
  if (!nearest && !axes.empty()) {
    TIM_ASSIGN_OR_RETURN(value, InTypeOf(builder, value, given));
  }
  return Extrapolated(builder, value, all, sampling);
}

}  // namespace

Status Resize(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(
      node, {{.operand = 2, .first = 11},
             {.operand = 3, .first = 11},
             {.attribute = "coordinate_transformation_mode", .first = 11},
             {.attribute = "nearest_mode", .first = 11},
             {.attribute = "cubic_coeff_a", .first = 11},
             {.attribute = "exclude_outside", .first = 11},
             {.attribute = "extrapolation_value", .first = 11},
             {.attribute = "antialias", .first = 18},
             {.attribute = "axes", .first = 18},
             {.attribute = "keep_aspect_ratio_policy", .first = 18}}));
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const Sampling sampling, ReadSampling(node));
  TIM_ASSIGN_OR_RETURN(auto axes, ReadAxes(node, sampling, value));
  return node.SetOutput(
      0, Resized(node.builder, value, std::move(axes), sampling));
}

Status Upsample(Node& node) {
  TIM_RETURN_IF_ERROR(CheckSpells(
      node, {{.operand = 1, .first = 9}, {.attribute = "scales", .last = 8}}));
  if (node.opset >= 10) {
    return InvalidArgument(
        "there is no Upsample since opset 10; the model has "
        "opset ",
        node.opset);
  }
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0, 1));
  TIM_ASSIGN_OR_RETURN(const Sampling sampling, ReadSampling(node));
  std::vector<float> scales;
  if (node.opset < 9) {
    TIM_ASSIGN_OR_RETURN(scales, node.FloatList("scales"));
  } else {
    TIM_ASSIGN_OR_RETURN(scales, node.ConstantFloats(1));
  }
  TIM_ASSIGN_OR_RETURN(auto axes, AxesByScales(sampling, value, scales));
  return node.SetOutput(
      0, Resized(node.builder, value, std::move(axes), sampling));
}

}  // namespace tim::models::onnx::images
