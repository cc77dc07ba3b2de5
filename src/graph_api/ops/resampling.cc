// Interpolate: images of other sizes, by the nearest element or linearly along
// every axis; and its gradient.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "graph_api/formula.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

// Codes of the attribute `type` of Resize.
constexpr int64_t kNearest = 0;
constexpr int64_t kLinear = 1;

// Coordinates up to here are exact in float32.
constexpr int64_t kMostExtent = int64_t{1} << 23;

bool AlignsCorners(const Op& op) {
  return op.String(tim_graph_op_attr_coordinate_transformation_mode) ==
         "align_corners";
}

bool IsNearest(const Op& op) {
  return op.String(tim_graph_op_attr_mode) == "nearest";
}

bool IsGiven(const Op& op, tim_graph_op_attr_t sizes) {
  return op.Has(sizes) && !op.Ints(sizes).empty();
}

bool HasScales(const Op& op) {
  return op.Has(tim_graph_op_attr_scales) &&
         !op.FloatList(tim_graph_op_attr_scales).empty();
}

// linear, bilinear and trilinear say how many axes there are.
Status CheckMode(const Op& op, int64_t spatial) {
  constexpr std::array kModes = {"linear", "bilinear", "trilinear"};
  const std::string& mode = op.String(tim_graph_op_attr_mode);
  const char* expected = kModes[static_cast<size_t>(spatial - 1)];
  if (mode == "nearest" || mode == expected) return OkStatus();
  return InvalidArgument("attribute 'mode' is ", mode, ", expected ", expected,
                         " or nearest for ", spatial, " spatial axes");
}

Result<Dims> ScaledExtents(const Op& op, const Dims& extents) {
  const Floats& scales = op.FloatList(tim_graph_op_attr_scales);
  if (scales.size() != extents.size()) {
    return InvalidArgument("attribute 'scales' has ", scales.size(),
                           " values, expected ", extents.size(),
                           ", one for each spatial axis");
  }
  Dims out;
  for (size_t i = 0; i < extents.size(); ++i) {
    const float extent = static_cast<float>(extents[i]) * scales[i];
    if (!(extent >= 1.0f && extent < 0x1p31f)) {
      return InvalidArgument("a scale of ", scales[i], " makes ", extent,
                             " of the extent ", extents[i],
                             ", expected 1 to 2^31 - 1 elements");
    }
    out.push_back(static_cast<int64_t>(extent));
  }
  return out;
}

// Dims of dst, [N, C, X...].
Result<Dims> ResizedDims(const Op& op, const Dims& src) {
  TIM_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank("src", src));
  TIM_RETURN_IF_ERROR(CheckMode(op, spatial));
  const Dims ncx = ToNcx(op, src);
  Dims extents;
  if (HasScales(op)) {
    TIM_ASSIGN_OR_RETURN(extents, ScaledExtents(op, SpatialDims(ncx)));
  } else {
    TIM_ASSIGN_OR_RETURN(
        extents, SpatialList(op, tim_graph_op_attr_sizes, spatial, 1, 1));
  }
  for (const int64_t extent : extents) {
    if (extent <= kMostExtent) continue;
    return Unimplemented("a spatial axis of ", extent, " elements, at most ",
                         kMostExtent, " are supported");
  }
  extents.insert(extents.begin(), {ncx[0], ncx[1]});
  return extents;
}

Result<std::vector<Dims>> EmptyDims(const Op& op,
                                    const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const Dims dims, ResizedDims(op, inputs[0]));
  return std::vector<Dims>{FromNcx(op, dims)};
}

// ---- The nearest element ----

// Element `o` of `out` is element NearestTo(...) of `in`: the coordinate
// rounded to an integer, halves away from 0.
int64_t NearestTo(int64_t o, int64_t in, int64_t out, bool align_corners) {
  if (!align_corners) return std::min((2 * o + 1) * in / (2 * out), in - 1);
  if (out == 1) return 0;
  return (2 * o * (in - 1) + (out - 1)) / (2 * (out - 1));
}

// The same by the float32 arithmetic of Resize: each operation is rounded.
int64_t ResizesTo(int64_t o, int64_t in, int64_t out, bool align_corners) {
  const bool align = align_corners && out > 1;
  const float scale = static_cast<float>(align ? in - 1 : in) /
                      static_cast<float>(align ? out - 1 : out);
  const double position = static_cast<double>(o) + (align_corners ? 0 : 0.5);
  const auto scaled = static_cast<float>(
      static_cast<double>(static_cast<float>(position)) * scale);
  const auto rounded = static_cast<float>(static_cast<double>(scaled) +
                                          (align_corners ? 0.5 : 0));
  return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, in - 1);
}

bool ResizesExactly(int64_t in, int64_t out, bool align_corners) {
  for (int64_t o = 0; o < out; ++o) {
    if (ResizesTo(o, in, out, align_corners) !=
        NearestTo(o, in, out, align_corners)) {
      return false;
    }
  }
  return true;
}

Tensor GatherNearest(Formula& formula, const Tensor& ncx, size_t axis,
                     int64_t extent, bool align_corners) {
  const int64_t in = ncx.dims[axis];
  if (in == extent || !formula.status().ok()) return ncx;
  std::vector<int32_t> indices;
  for (int64_t o = 0; o < extent; ++o) {
    indices.push_back(
        static_cast<int32_t>(NearestTo(o, in, extent, align_corners)));
  }
  const Tensor constant =
      formula.Try(formula.lowering().Constant(indices, {extent}));
  if (!formula.status().ok()) return {};
  return formula.Try(formula.lowering().Add(
      "Gather", {ncx, constant},
      {{"axis", InnerAxis(static_cast<int64_t>(axis), ncx.rank())}}));
}

// ---- Resize of the last axes ----

// The last axis, or the last two.
Tensor ResizeLast(const Op& op, Formula& formula, const Tensor& x,
                  const std::vector<int64_t>& extents) {
  ir::AttributeMap attributes = {
      {"type", IsNearest(op) ? kNearest : kLinear},
      {"factor", 0.0},
      {"align_corners", AlignsCorners(op)},
      {"half_pixel_centers", !AlignsCorners(op)},
  };
  if (extents.size() == 1) {
    attributes.Set("target_size", extents[0]);
    return formula.Unary("Resize1d", x, std::move(attributes));
  }
  attributes.Set("target_height", extents[0]);
  attributes.Set("target_width", extents[1]);
  return formula.Unary("Resize", x, std::move(attributes));
}

Tensor Nearest(const Op& op, Formula& formula, Tensor ncx, const Dims& dims) {
  const bool align = AlignsCorners(op);
  const size_t rank = dims.size();
  // Axes behind D, or all.
  const size_t first = rank == 5 ? 3 : 2;
  if (rank == 5) ncx = GatherNearest(formula, ncx, 2, dims[2], align);
  bool exact = true;
  for (size_t axis = first; axis < rank; ++axis) {
    exact = exact && formula.status().ok() &&
            ResizesExactly(ncx.dims[axis], dims[axis], align);
  }
  if (exact) {
    return ResizeLast(
        op, formula, ncx,
        {dims.begin() + static_cast<ptrdiff_t>(first), dims.end()});
  }
  for (size_t axis = first; axis < rank; ++axis) {
    ncx = GatherNearest(formula, ncx, axis, dims[axis], align);
  }
  return ncx;
}

Tensor Linear(const Op& op, Formula& formula, Tensor ncx, const Dims& dims) {
  if (dims.size() == 3) return ResizeLast(op, formula, ncx, {dims[2]});
  if (dims.size() == 4) return ResizeLast(op, formula, ncx, {dims[2], dims[3]});
  ncx = ResizeLast(op, formula, ncx, {dims[3], dims[4]});
  if (!formula.status().ok() || ncx.dims[2] == dims[2]) return ncx;
  ncx = formula.Transpose(ncx, {0, 1, 3, 4, 2});
  ncx = ResizeLast(op, formula, ncx, {dims[2]});
  return formula.Transpose(ncx, {0, 1, 4, 2, 3});
}

Status LowerInterpolate(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(const Dims dims,
                       ResizedDims(op, lowering.input(0).dims));
  TIM_ASSIGN_OR_RETURN(const Tensor ncx,
                       ToNcx(lowering, op, lowering.input(0)));
  Formula formula(lowering);
  const Tensor made = IsNearest(op) ? Nearest(op, formula, ncx, dims)
                                    : Linear(op, formula, ncx, dims);
  TIM_RETURN_IF_ERROR(formula.status());
  TIM_ASSIGN_OR_RETURN(const Tensor dst, FromNcx(lowering, op, made));
  return formula.Store(0, dst);
}

Status CheckInterpolate(const Op& op) {
  const bool sizes = IsGiven(op, tim_graph_op_attr_sizes);
  if (sizes != HasScales(op)) return OkStatus();
  return InvalidArgument(sizes ? "both 'sizes' and 'scales' are given"
                               : "neither 'sizes' nor 'scales' is given",
                         ", expected one of these attributes");
}

// Sizes are the last input.
Status SupportsInterpolate(const Op& op) {
  if (op.inputs.size() < op.def->inputs.size()) return OkStatus();
  return Unimplemented(op.def->name, " with sizes as an input");
}

// ---- InterpolateBackward ----

// Weights of the elements of an axis in each element that is made of them,
// [out, in].
Result<Floats> WeightsAlong(const Op& op, int64_t in, int64_t out) {
  constexpr int64_t kMostWeights = int64_t{1} << 24;
  if (in > kMostWeights / out) {
    return Unimplemented("a spatial axis of ", in, " elements, and ", out,
                         " of diff_dst");
  }
  const bool align = AlignsCorners(op);
  Floats weights(static_cast<size_t>(in * out), 0.0f);
  for (int64_t o = 0; o < out; ++o) {
    const auto weight = [&](int64_t i) -> float& {
      return weights[static_cast<size_t>(o * in +
                                         std::clamp<int64_t>(i, 0, in - 1))];
    };
    if (IsNearest(op)) {
      weight(NearestTo(o, in, out, align)) = 1;
      continue;
    }
    const auto at = static_cast<double>(o);
    const double scale =
        align ? static_cast<double>(in - 1) /
                    static_cast<double>(std::max(out - 1, int64_t{1}))
              : static_cast<double>(in) / static_cast<double>(out);
    const double position =
        align ? (out == 1 ? 0 : at * scale) : (at + 0.5) * scale - 0.5;
    const auto below = static_cast<int64_t>(std::floor(position));
    const double share = position - static_cast<double>(below);
    weight(below) += static_cast<float>(1 - share);
    weight(below + 1) += static_cast<float>(share);
  }
  return weights;
}

Status LowerBackward(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  const Tensor src = formula.In(0);
  TIM_ASSIGN_OR_RETURN(const Dims dims, ResizedDims(op, src.dims));
  const Dims expected = FromNcx(op, dims);
  if (formula.In(1).dims != expected) {
    return InvalidArgument("diff_dst has dims {",
                           StrJoin(formula.In(1).dims, ", "), "}, expected {",
                           StrJoin(expected, ", "),
                           "}, those of what Interpolate makes of src");
  }
  const Dims ncx = ToNcx(op, src.dims);
  TIM_ASSIGN_OR_RETURN(Tensor made, ToNcx(lowering, op, formula.In(1)));
  for (size_t axis = 2; axis < ncx.size(); ++axis) {
    if (ncx[axis] == dims[axis]) continue;  // each element is made of its own
    TIM_ASSIGN_OR_RETURN(const Floats weights,
                         WeightsAlong(op, ncx[axis], dims[axis]));
    made = formula.MultiplyAlong(made, static_cast<int64_t>(axis), weights,
                                 ncx[axis]);
  }
  TIM_RETURN_IF_ERROR(formula.status());
  TIM_ASSIGN_OR_RETURN(made, FromNcx(lowering, op, made));
  return formula.Store(0, made);
}

// Record of what both kinds have.
OpDef Record(tim_graph_op_kind_t kind, const char* name) {
  OpDef def;
  def.kind = kind;
  def.name = name;
  def.types = {{"T1", FloatTypes()}, {"T2", {tim_graph_s32}}};
  def.attributes = {
      {.attribute = tim_graph_op_attr_mode,
       .choices = {"nearest", "linear", "bilinear", "trilinear"}},
      {.attribute = tim_graph_op_attr_sizes, .optional = true},
      {.attribute = tim_graph_op_attr_scales, .optional = true},
      {.attribute = tim_graph_op_attr_coordinate_transformation_mode,
       .default_value = std::string("half_pixel"),
       .choices = {"half_pixel", "align_corners"}},
      DataFormatDef()};
  def.rule = CheckInterpolate;
  def.supports = SupportsInterpolate;
  return def;
}

}  // namespace

TIM_GRAPH_OPS(resampling) {
  OpDef forward = Record(tim_graph_op_interpolate, "Interpolate");
  forward.inputs = {{"src", "T1"}, {"sizes", "T2", true}};
  forward.outputs = {{"dst", "T1"}};
  forward.lower = LowerInterpolate;
  forward.empty_dims = EmptyDims;
  table.Add(std::move(forward));

  OpDef backward =
      Record(tim_graph_op_interpolate_backward, "InterpolateBackward");
  backward.inputs = {{"src", "T1"}, {"diff_dst", "T1"}, {"sizes", "T2", true}};
  backward.outputs = {{"diff_src", "T1"}};
  backward.lower = LowerBackward;
  table.Add(std::move(backward));
}

}  // namespace tim::graph
