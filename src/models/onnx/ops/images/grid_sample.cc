// GridSample of ONNX: elements of the image around every point of the grid,
// gathered and weighted.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "models/onnx/ops/images/formula.h"
#include "models/onnx/ops/images/images.h"
#include "models/onnx/ops/images/taps.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"

namespace tim::models::onnx::images {
namespace {

enum class Taps { kNearest, kLinear, kCubic };
enum class Outside { kZeros, kBorder, kReflection };

struct Modes {
  Taps taps = Taps::kLinear;
  Outside outside = Outside::kZeros;
  bool align_corners = false;
};

Result<Modes> ReadModes(const Node& node) {
  Modes modes;
  const bool newer = node.opset >= 20;
  TIM_ASSIGN_OR_RETURN(const std::string taps,
                       node.Text("mode", newer ? "linear" : "bilinear"));
  TIM_ASSIGN_OR_RETURN(const std::string outside,
                       node.Text("padding_mode", "zeros"));
  TIM_ASSIGN_OR_RETURN(const int64_t align, node.Int("align_corners", 0));
  if (taps == "nearest") {
    modes.taps = Taps::kNearest;
  } else if (taps == (newer ? "cubic" : "bicubic")) {
    modes.taps = Taps::kCubic;
  } else if (taps != (newer ? "linear" : "bilinear")) {
    return InvalidArgument("attribute 'mode' is '", taps, "' at opset ",
                           node.opset);
  }
  if (outside == "border") {
    modes.outside = Outside::kBorder;
  } else if (outside == "reflection") {
    modes.outside = Outside::kReflection;
  } else if (outside != "zeros") {
    return InvalidArgument("attribute 'padding_mode' is '", outside,
                           "', expected zeros, border or reflection");
  }
  modes.align_corners = align != 0;
  return modes;
}

/// `x` mirrored at both borders until it lies between them.
Formula Reflected(const Formula& x, const Modes& modes, float extent) {
  const float least = modes.align_corners ? 0.0f : -0.5f;
  const float range = extent - (modes.align_corners ? 1.0f : 0.0f);
  if (range <= 0) return x * 0.0f;
  const Formula from = x - least;
  const Formula rest = from - (from / (2 * range)).Floor() * (2 * range);
  return (rest - range).Abs() * -1.0f + (least + range);
}

/// The point as a coordinate of an axis of `extent` elements.
Formula Coordinate(const Formula& point, const Modes& modes, int axes,
                   float extent) {
  const Formula moved = point + 1.0f;
  Formula x = modes.align_corners ? moved / 2.0f * (extent - 1)
                                  : (moved * extent - 1.0f) / 2.0f;
  if (modes.taps == Taps::kNearest) {
    // Halves go to the even element in planes, away from 0 in volumes.
    const Formula away = (x.Abs() + 0.5f).Floor();
    const Formula zero = x * 0.0f;
    x = axes == 2 ? x.Round() : (x < zero).Choose(away * -1.0f, away);
  }
  if (modes.outside == Outside::kReflection) {
    return Reflected(x, modes, extent);
  }
  if (modes.outside == Outside::kZeros) return x;
  // Cubic weights of a point just outside are not those of the border.
  const float margin = modes.align_corners ? 0.0f : 0.5f;
  const Formula within = (-margin <= x) && (x <= extent - 1 + margin);
  return within.Choose(x, x.Clip(0, extent - 1));
}

/// A tap at the whole number `at`, which may lie outside.
Tap TapAt(const Formula& at, const Formula& weight, const Modes& modes,
          float extent) {
  const float last = extent - 1;
  if (modes.outside == Outside::kReflection) {
    return {Reflected(at, modes, extent).Round().Clip(0, last), weight};
  }
  if (modes.outside == Outside::kBorder) return {at.Clip(0, last), weight};
  return TapWithin(at, weight, extent);
}

/// Keys' filter with the coefficient -0.75, of a distance from 0 to 1, or from
/// 1 to 2.
Formula NearWeight(const Formula& d) {
  return (d * 1.25f - 2.25f) * d * d + 1.0f;
}
Formula FarWeight(const Formula& d) {
  return ((d * -0.75f + 3.75f) * d - 6.0f) * d + 3.0f;
}

std::vector<Tap> TapsOf(const Formula& point, const Modes& modes, int axes,
                        int64_t elements) {
  const auto extent = static_cast<float>(elements);
  const Formula x = Coordinate(point, modes, axes, extent);
  const Formula one = Formula::Of(x.builder(), {1.0f}, {});
  if (modes.taps == Taps::kNearest) return {TapAt(x, one, modes, extent)};
  const Formula base = x.Floor();
  const Formula rest = x - base;
  const Formula left = rest * -1.0f + 1.0f;
  if (modes.taps == Taps::kLinear) {
    return {TapAt(base, left, modes, extent),
            TapAt(base + 1.0f, rest, modes, extent)};
  }
  return {TapAt(base - 1.0f, FarWeight(rest + 1.0f), modes, extent),
          TapAt(base, NearWeight(rest), modes, extent),
          TapAt(base + 1.0f, NearWeight(left), modes, extent),
          TapAt(base + 2.0f, FarWeight(left + 1.0f), modes, extent)};
}

Status CheckExtents(const Value& image, const Value& grid) {
  const int axes = image.rank() - 2;
  if ((axes != 2 && axes != 3) || grid.rank() != image.rank() ||
      grid.dims[0] != image.dims[0] || grid.dims.back() != axes ||
      image.ElementCount() == 0 || grid.ElementCount() == 0) {
    return InvalidArgument("operands are ", Describe(image), " and ",
                           Describe(grid),
                           ", expected [N,C,H,W] and [N,h,w,2], or as much "
                           "with depth");
  }
  // Indices are counted in float32.
  TIM_ASSIGN_OR_RETURN(const int64_t elements,
                       Extent(image.dims, 2, image.dims.size()));
  if (elements <= 1 << 24) return OkStatus();
  return Unimplemented("planes of ", elements, " elements; 2^24 are taken");
}

}  // namespace

Status GridSample(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value given, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const Value places, FloatOperand(node, 1));
  TIM_ASSIGN_OR_RETURN(const Modes modes, ReadModes(node));
  TIM_RETURN_IF_ERROR(CheckExtents(given, places));
  const int axes = given.rank() - 2;
  if (axes == 3 && (node.opset < 20 || modes.taps == Taps::kCubic)) {
    return Unimplemented(
        "volumes are taken from opset 20 on, in the modes "
        "nearest and linear");
  }
  GraphBuilder* const builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const Value image, AsFloat(builder, given));
  TIM_ASSIGN_OR_RETURN(const Value grid, AsFloat(builder, places));
  const int64_t batch = image.dims[0];
  const int64_t points = grid.ElementCount() / axes / batch;
  const Formula list = Formula(builder, grid).Reshape({batch, points, axes});
  std::vector<Tap> taps;
  int64_t elements = 1;
  for (int axis = 0; axis < axes; ++axis) {
    // The grid names the innermost axis first.
    const Formula point =
        list.Range(2, axes - 1 - axis, 1).Reshape({batch, points});
    const int64_t extent = image.dims[axis + 2];
    const std::vector<Tap> own = TapsOf(point, modes, axes, extent);
    taps = axis == 0 ? own : Combined(taps, own, extent);
    elements *= extent;
  }
  TIM_ASSIGN_OR_RETURN(const Value sum, Sampled(image, taps, elements, points));
  Dims dims = {batch, image.dims[1]};
  dims.insert(dims.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  TIM_ASSIGN_OR_RETURN(const Value made, builder->Reshape(sum, dims));
  return node.SetOutput(0, InTypeOf(builder, made, given));
}

}  // namespace tim::models::onnx::images
