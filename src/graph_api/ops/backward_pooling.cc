// Gradients of AvgPool and MaxPool.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/window_gradients.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

// Pools may have rounded up; either number of windows is what some pool made.
Result<Rounding> RoundingOf(const std::vector<Window>& windows, const Dims& src,
                            const Dims& dst) {
  for (const Rounding rounding : {Rounding::kFloor, Rounding::kCeiling}) {
    bool fits = src[0] == dst[0] && src[1] == dst[1];
    for (size_t i = 0; fits && i < windows.size(); ++i) {
      TIM_ASSIGN_OR_RETURN(const int64_t count,
                           WindowCount(windows[i], src[2 + i], rounding));
      fits = count == dst[2 + i];
    }
    if (fits) return rounding;
  }
  return InvalidArgument("diff_dst {", StrJoin(dst, ", "),
                         "} is not what windows over src {", StrJoin(src, ", "),
                         "} make; both in NCX");
}

Result<std::vector<Window>> PoolWindows(const Op& op, const Dims& ncx) {
  return WindowsOf(op, SpatialDims(ncx), op.Ints(tim_graph_op_attr_kernel));
}

Status CheckKernel(const Op& op, const Dims& src) {
  TIM_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank("src", src));
  return SpatialList(op, tim_graph_op_attr_kernel, spatial, 1, 1).status();
}

// ---- AvgPoolBackward ----

// Cells by which each window along an axis divides.
Floats CellsOf(const Window& window, int64_t extent, int64_t count,
               bool exclude_pad) {
  Floats out;
  for (int64_t o = 0; o < count; ++o) {
    const int64_t begin = o * window.stride - window.begin;
    const int64_t inside =
        std::min(begin + window.kernel, extent) - std::max<int64_t>(begin, 0);
    out.push_back(static_cast<float>(exclude_pad ? std::max<int64_t>(inside, 1)
                                                 : window.kernel));
  }
  return out;
}

// Adds each cell of x [N, C, Y, X] to those of its window along two axes.
Tensor SpreadPlanes(Formula& f, const Tensor& x,
                    const std::vector<Window>& windows, const Dims& extents) {
  const int64_t taps = windows[0].kernel * windows[1].kernel;
  const Tensor ones = f.Try(
      f.lowering().Constant(Floats(static_cast<size_t>(taps), 1.0f),
                            {1, 1, windows[0].kernel, windows[1].kernel}));
  return Spread(f, x, ones, windows, 1, extents);
}

// Along all spatial axes, depth first where there is one.
Tensor SpreadCells(Formula& f, const Tensor& x, std::vector<Window> windows,
                   const Dims& src) {
  if (!f.status().ok()) return {};
  int64_t planes = src[0] * src[1];
  Tensor rest = x;
  Dims extents = SpatialDims(src);
  Dims made = SpatialDims(x.dims);
  if (windows.size() == 3) {
    rest = f.Reshape(rest, {planes, 1, made[0], made[1] * made[2]});
    rest = SpreadPlanes(f, rest, {windows[0], Window()},
                        {extents[0], made[1] * made[2]});
    planes *= extents[0];
    windows.erase(windows.begin());
    extents.erase(extents.begin());
    made.erase(made.begin());
  }
  if (windows.size() == 1) {
    extents.insert(extents.begin(), 1);
    made.insert(made.begin(), 1);
  }
  rest = f.Reshape(rest, {planes, 1, made[0], made[1]});
  return f.Reshape(SpreadPlanes(f, rest, AsImage(windows), extents), src);
}

Status LowerAvg(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_ASSIGN_OR_RETURN(const Dims shape,
                       GivenShape(op, tim_graph_op_attr_src_shape));
  TIM_RETURN_IF_ERROR(CheckKernel(op, shape));
  if (shape.size() != f.In(0).dims.size()) {
    return InvalidArgument("diff_dst has the rank ", f.In(0).rank(),
                           ", src the rank ", shape.size());
  }
  Tensor dd = f.Try(ToNcx(lowering, op, f.In(0)));
  TIM_RETURN_IF_ERROR(f.status());
  const Dims src = ToNcx(op, shape);
  TIM_ASSIGN_OR_RETURN(const std::vector<Window> windows, PoolWindows(op, src));
  TIM_RETURN_IF_ERROR(RoundingOf(windows, src, dd.dims).status());
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t count = dd.dims[2 + i];
    const Tensor cells = f.Try(lowering.Constant(
        CellsOf(windows[i], src[2 + i], count,
                op.Bool(tim_graph_op_attr_exclude_pad)),
        AlongAxis(dd.rank(), static_cast<int64_t>(2 + i), count)));
    dd = f.Div(dd, cells);
    TIM_RETURN_IF_ERROR(f.status());
  }
  const Tensor made = SpreadCells(f, dd, windows, src);
  TIM_RETURN_IF_ERROR(f.status());
  return f.Store(0, f.Try(FromNcx(lowering, op, made)));
}

Result<std::vector<Dims>> EmptyAvg(const Op& op, const std::vector<Dims>&) {
  TIM_ASSIGN_OR_RETURN(Dims shape, GivenShape(op, tim_graph_op_attr_src_shape));
  return std::vector<Dims>{std::move(shape)};
}

// ---- MaxPoolBackward ----

Status CheckMax(const Op& op) {
  TIM_RETURN_IF_ERROR(CheckPads(op));
  if (!op.Has(tim_graph_op_attr_dilations)) return OkStatus();
  const size_t dilations = op.Ints(tim_graph_op_attr_dilations).size();
  const size_t kernel = op.Ints(tim_graph_op_attr_kernel).size();
  if (dilations == kernel) return OkStatus();
  return InvalidArgument("attribute 'dilations' has ", dilations,
                         " values, expected ", kernel, ", those of 'kernel'");
}

// Windows that lie apart: cell t of window w of an axis is element
// `cells[w * kernel + t]` of the image.
struct SpreadAxis {
  std::vector<int32_t> cells = {};
  int64_t extent = 0;  // Of the image.
  int64_t count = 0;   // Of windows.
  int64_t kernel = 0;
};

Result<std::vector<SpreadAxis>> SpreadAxes(const std::vector<Window>& windows,
                                           const Dims& src, const Dims& dst) {
  constexpr int64_t kMostElements = int64_t{1} << 24;
  std::vector<SpreadAxis> axes;
  for (size_t i = 0; i < windows.size(); ++i) {
    SpreadAxis axis = {
        .extent = src[2 + i], .count = dst[2 + i], .kernel = windows[i].kernel};
    TIM_ASSIGN_OR_RETURN(axis.cells,
                         CellsOfWindows(windows[i], axis.extent, axis.count));
    const auto cells = static_cast<int64_t>(axis.cells.size());
    if (cells > kMostElements / axis.extent) {
      return Unimplemented(cells, " cells of windows over ", axis.extent,
                           " elements of a spatial axis");
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

// Windows of `cells` [N, C, w0 * k0, w1 * k1, ...], a row each.
struct WindowRows {
  Dims split = {};             // [N * C, w0, k0, w1, k1, ...]
  std::vector<int64_t> order;  // To [N * C, w0, w1, ..., k0, k1, ...].
  std::vector<int64_t> back;
  int64_t rows = 1;
  int64_t length = 1;
};

WindowRows RowsOf(const std::vector<SpreadAxis>& axes, const Dims& src) {
  const auto spatial = static_cast<int64_t>(axes.size());
  WindowRows out = {.split = {src[0] * src[1]}, .order = {0}, .back = {0}};
  out.rows = out.split[0];
  for (const SpreadAxis& axis : axes) {
    out.split.insert(out.split.end(), {axis.count, axis.kernel});
    out.rows *= axis.count;
    out.length *= axis.kernel;
  }
  for (int64_t i = 0; i < spatial; ++i) out.order.push_back(1 + 2 * i);
  for (int64_t i = 0; i < spatial; ++i) out.order.push_back(2 + 2 * i);
  for (int64_t i = 0; i < spatial; ++i) {
    out.back.insert(out.back.end(), {1 + i, 1 + spatial + i});
  }
  return out;
}

// `values` [rows, 1] at the first greatest of each row of x, else 0.
Tensor AtFirstGreatest(Formula& f, const Tensor& x, const Tensor& values) {
  if (!f.status().ok()) return {};
  const int64_t length = x.dims[1];
  Floats places;
  for (int64_t i = 0; i < length; ++i) places.push_back(static_cast<float>(i));
  const Tensor place = f.Try(f.lowering().Constant(places, {1, length}));
  const Tensor greatest = f.Unary(
      "ReduceMax", x, {{"axis", std::vector<int64_t>{0}}, {"keep_dims", true}});
  const Tensor is_greatest = f.Binary("Equal", x, greatest);
  const Tensor first = f.Unary(
      "ReduceMin",
      f.Select(is_greatest, place, f.Number(static_cast<double>(length))),
      {{"axis", std::vector<int64_t>{0}}, {"keep_dims", true}});
  return f.Select(f.Binary("Equal", place, first), values, f.Number(0));
}

// Gradient of windows that no operator takes: their cells are laid side by
// side, and gradients are summed where they came from.
Tensor MaxGradient(Formula& f, const Tensor& src, const Tensor& dd,
                   const std::vector<SpreadAxis>& axes) {
  Tensor cells = src;
  for (size_t i = 0; i < axes.size() && f.status().ok(); ++i) {
    const Tensor indices = f.Try(f.lowering().Constant(
        axes[i].cells, {static_cast<int64_t>(axes[i].cells.size())}));
    if (!f.status().ok()) return {};
    cells = f.Try(f.lowering().Add(
        "Gather", {cells, indices},
        {{"axis", InnerAxis(static_cast<int64_t>(2 + i), src.rank())}}));
  }
  if (!f.status().ok()) return {};
  const WindowRows rows = RowsOf(axes, src.dims);
  const Tensor ordered = f.Transpose(f.Reshape(cells, rows.split), rows.order);
  const Tensor made =
      AtFirstGreatest(f, f.Reshape(ordered, {rows.rows, rows.length}),
                      f.Reshape(dd, {rows.rows, 1}));
  Tensor sums = f.Reshape(f.Transpose(f.Reshape(made, ordered.dims), rows.back),
                          cells.dims);
  for (size_t i = 0; i < axes.size(); ++i) {
    const SpreadAxis& axis = axes[i];
    Floats sources(axis.cells.size() * static_cast<size_t>(axis.extent), 0.0f);
    for (size_t cell = 0; cell < axis.cells.size(); ++cell) {
      sources[cell * static_cast<size_t>(axis.extent) +
              static_cast<size_t>(axis.cells[cell])] = 1;
    }
    sums = f.MultiplyAlong(sums, static_cast<int64_t>(2 + i), sources,
                           axis.extent);
  }
  return sums;
}

bool TakesOperator(const std::vector<Window>& windows) {
  return windows.size() < 3 &&
         std::all_of(windows.begin(), windows.end(),
                     [](const Window& one) { return one.dilation == 1; });
}

Status LowerMax(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_RETURN_IF_ERROR(CheckKernel(op, f.In(0).dims));
  if (f.In(0).rank() != f.In(1).rank()) {
    return InvalidArgument("diff_dst has the rank ", f.In(1).rank(),
                           ", src the rank ", f.In(0).rank());
  }
  const Tensor src = f.Try(ToNcx(lowering, op, f.In(0)));
  const Tensor dd = f.Try(ToNcx(lowering, op, f.In(1)));
  TIM_RETURN_IF_ERROR(f.status());
  TIM_ASSIGN_OR_RETURN(const std::vector<Window> windows,
                       PoolWindows(op, src.dims));
  TIM_ASSIGN_OR_RETURN(const Rounding rounding,
                       RoundingOf(windows, src.dims, dd.dims));
  if (!TakesOperator(windows)) {
    TIM_ASSIGN_OR_RETURN(const std::vector<SpreadAxis> axes,
                         SpreadAxes(windows, src.dims, dd.dims));
    const Tensor made = MaxGradient(f, src, dd, axes);
    TIM_RETURN_IF_ERROR(f.status());
    return f.Store(0, f.Try(FromNcx(lowering, op, made)));
  }
  const Tensor image = f.Try(AsImage(lowering, src));
  const Tensor gradient = f.Try(AsImage(lowering, dd));
  TIM_RETURN_IF_ERROR(f.status());
  const Tensor made =
      f.Try(lowering.Add("MaxpoolGrad", {image, gradient},
                         PoolAttributes(AsImage(windows), rounding)));
  const Tensor ncx = f.Reshape(made, src.dims);
  TIM_RETURN_IF_ERROR(f.status());
  return f.Store(0, f.Try(FromNcx(lowering, op, ncx)));
}

}  // namespace

TIM_GRAPH_OPS(backward_pooling) {
  OpDef avg = {.kind = tim_graph_op_avg_pool_backward,
               .name = "AvgPoolBackward",
               .types = {{"T1", FloatTypes()}, {"T2", {tim_graph_s32}}},
               .inputs = {{"diff_dst", "T1"}, {"src_shape", "T2", true}},
               .outputs = {{"diff_src", "T1"}},
               .attributes = WindowDefs(),
               .rule = CheckPads,
               .lower = LowerAvg,
               .empty_dims = EmptyAvg};
  avg.attributes.push_back({.attribute = tim_graph_op_attr_kernel});
  avg.attributes.push_back({.attribute = tim_graph_op_attr_exclude_pad});
  avg.attributes.push_back(
      {.attribute = tim_graph_op_attr_src_shape, .optional = true});
  table.Add(std::move(avg));

  OpDef max = {.kind = tim_graph_op_max_pool_backward,
               .name = "MaxPoolBackward",
               .types = {{"T", FloatTypes()}},
               .inputs = {{"src", "T"}, {"diff_dst", "T"}},
               .outputs = {{"diff_src", "T"}},
               .attributes = WindowDefs(),
               .rule = CheckMax,
               .lower = LowerMax};
  max.attributes.push_back({.attribute = tim_graph_op_attr_kernel});
  max.attributes.push_back(
      {.attribute = tim_graph_op_attr_dilations, .optional = true});
  table.Add(std::move(max));
}

}  // namespace tim::graph
