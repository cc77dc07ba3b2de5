// Gradients of Convolution and ConvTranspose: of the data and of the weights.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/window_gradients.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

// Operands of a convolution in NCX and OIX: what it reads, its weights, what it
// makes.  One of them is looked for.
struct Problem {
  Dims src = {};
  Dims weights = {};  // [O, I / groups, X...]
  Dims dst = {};
  int64_t groups = 1;
};

Status CheckRank(std::string_view name, const Dims& dims, const Dims& other) {
  TIM_RETURN_IF_ERROR(SpatialRank(name, dims).status());
  if (dims.size() == other.size()) return OkStatus();
  return InvalidArgument(name, " has dims {", StrJoin(dims, ", "),
                         "}, expected ", other.size(), " axes");
}

Status CheckExtent(std::string_view what, int64_t found, int64_t expected) {
  if (found == expected) return OkStatus();
  return InvalidArgument(what, " is ", found, ", expected ", expected);
}

Status CheckChannels(const Problem& problem) {
  const int64_t groups = problem.groups;
  if (groups < 1 || problem.src[1] % groups != 0 ||
      problem.dst[1] % groups != 0) {
    return InvalidArgument("attribute 'groups' is ", groups,
                           ", expected a divisor of ", problem.src[1], " and ",
                           problem.dst[1], " channels");
  }
  TIM_RETURN_IF_ERROR(CheckExtent("the batch", problem.dst[0], problem.src[0]));
  TIM_RETURN_IF_ERROR(CheckExtent("the number of channels that weights make",
                                  problem.weights[0], problem.dst[1]));
  return CheckExtent("the number of channels that weights read",
                     problem.weights[1], problem.src[1] / groups);
}

// Windows along src must make dst.
Status CheckCounts(const Problem& problem, const std::vector<Window>& windows) {
  for (size_t i = 0; i < windows.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t count,
                         WindowCount(windows[i], problem.src[2 + i]));
    TIM_RETURN_IF_ERROR(
        CheckExtent(StrCat("the number of windows along spatial axis ", i),
                    problem.dst[2 + i], count));
  }
  return OkStatus();
}

// What a transposed convolution makes, which the convolution of its gradient
// reads, has output_padding cells that no window reaches.
Status TakePaddingAway(const Op& op, std::vector<Window>* windows) {
  TIM_ASSIGN_OR_RETURN(
      const std::vector<int64_t> more,
      SpatialList(op, tim_graph_op_attr_output_padding,
                  static_cast<int64_t>(windows->size()), 0, 0));
  for (size_t i = 0; i < more.size(); ++i) (*windows)[i].end -= more[i];
  return OkStatus();
}

// ---- Convolution ----

Status LowerData(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_ASSIGN_OR_RETURN(const Dims shape,
                       GivenShape(op, tim_graph_op_attr_dst_shape));
  TIM_RETURN_IF_ERROR(CheckRank("diff_dst", f.In(0).dims, shape));
  TIM_RETURN_IF_ERROR(CheckRank("weights", f.In(1).dims, shape));
  const Tensor dd = f.Try(ToNcx(lowering, op, f.In(0)));
  const Tensor weights = f.Try(ToOix(lowering, op, f.In(1)));
  TIM_RETURN_IF_ERROR(f.status());
  const Problem problem = {.src = ToNcx(op, shape),
                           .weights = weights.dims,
                           .dst = dd.dims,
                           .groups = op.Int(tim_graph_op_attr_groups)};
  TIM_RETURN_IF_ERROR(CheckChannels(problem));
  const Dims extents = SpatialDims(problem.src);
  TIM_ASSIGN_OR_RETURN(const std::vector<Window> windows,
                       WindowsOf(op, extents, SpatialDims(weights.dims)));
  TIM_RETURN_IF_ERROR(CheckCounts(problem, windows));
  const Tensor made = Spread(f, dd, weights, windows, problem.groups, extents);
  TIM_RETURN_IF_ERROR(f.status());
  return f.Store(0, f.Try(FromNcx(lowering, op, made)));
}

Status LowerWeights(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_ASSIGN_OR_RETURN(const Dims shape,
                       GivenShape(op, tim_graph_op_attr_weights_shape));
  TIM_RETURN_IF_ERROR(CheckRank("src", f.In(0).dims, shape));
  TIM_RETURN_IF_ERROR(CheckRank("diff_dst", f.In(1).dims, shape));
  const Tensor src = f.Try(ToNcx(lowering, op, f.In(0)));
  const Tensor dd = f.Try(ToNcx(lowering, op, f.In(1)));
  TIM_RETURN_IF_ERROR(f.status());
  const Problem problem = {.src = src.dims,
                           .weights = ToOix(op, shape),
                           .dst = dd.dims,
                           .groups = op.Int(tim_graph_op_attr_groups)};
  TIM_RETURN_IF_ERROR(CheckChannels(problem));
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Window> windows,
      WindowsOf(op, SpatialDims(src.dims), SpatialDims(problem.weights)));
  TIM_RETURN_IF_ERROR(CheckCounts(problem, windows));
  const Tensor made = WeightsGradient(f, src, dd, windows, problem.groups);
  TIM_RETURN_IF_ERROR(f.status());
  return f.Store(0, f.Try(FromOix(lowering, op, made)));
}

// ---- ConvTranspose: src and dst of the convolution are exchanged ----

// Weights [O / groups, I, X...] of a transposed convolution are those
// [I, O / groups, X...] of a convolution that makes I channels of O.
std::vector<int64_t> Exchanged(size_t rank) {
  std::vector<int64_t> order = {1, 0};
  for (size_t i = 2; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
  return order;
}

Status LowerTransposedData(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_RETURN_IF_ERROR(SpatialRank("diff_dst", f.In(0).dims).status());
  TIM_RETURN_IF_ERROR(CheckRank("weights", f.In(1).dims, f.In(0).dims));
  const Tensor dd = f.Try(ToNcx(lowering, op, f.In(0)));
  const Tensor oix = f.Try(ToOix(lowering, op, f.In(1)));
  TIM_RETURN_IF_ERROR(f.status());
  const Tensor weights = f.Transpose(oix, Exchanged(oix.dims.size()));
  TIM_RETURN_IF_ERROR(f.status());
  Problem problem = {.src = dd.dims,
                     .weights = weights.dims,
                     .dst = {dd.dims[0], weights.dims[0]},
                     .groups = op.Int(tim_graph_op_attr_groups)};
  TIM_RETURN_IF_ERROR(CheckChannels(problem));
  TIM_ASSIGN_OR_RETURN(std::vector<Window> windows,
                       TransposedWindowsOf(op, SpatialDims(weights.dims)));
  TIM_RETURN_IF_ERROR(TakePaddingAway(op, &windows));
  for (size_t i = 0; i < windows.size(); ++i) {
    TIM_RETURN_IF_ERROR(WindowCount(windows[i], dd.dims[2 + i]).status());
  }
  const Tensor made = Convolve(f, dd, weights, windows, problem.groups);
  TIM_RETURN_IF_ERROR(f.status());
  return f.Store(0, f.Try(FromNcx(lowering, op, made)));
}

Status LowerTransposedWeights(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_ASSIGN_OR_RETURN(const Dims shape,
                       GivenShape(op, tim_graph_op_attr_weights_shape));
  TIM_RETURN_IF_ERROR(CheckRank("src", f.In(0).dims, shape));
  TIM_RETURN_IF_ERROR(CheckRank("diff_dst", f.In(1).dims, shape));
  const Tensor src = f.Try(ToNcx(lowering, op, f.In(0)));
  const Tensor dd = f.Try(ToNcx(lowering, op, f.In(1)));
  TIM_RETURN_IF_ERROR(f.status());
  Dims weights = ToOix(op, shape);
  std::swap(weights[0], weights[1]);
  const Problem problem = {.src = dd.dims,
                           .weights = weights,
                           .dst = src.dims,
                           .groups = op.Int(tim_graph_op_attr_groups)};
  TIM_RETURN_IF_ERROR(CheckChannels(problem));
  TIM_ASSIGN_OR_RETURN(std::vector<Window> windows,
                       TransposedWindowsOf(op, SpatialDims(weights)));
  TIM_RETURN_IF_ERROR(TakePaddingAway(op, &windows));
  TIM_RETURN_IF_ERROR(CheckCounts(problem, windows));
  const Tensor made = WeightsGradient(f, dd, src, windows, problem.groups);
  TIM_RETURN_IF_ERROR(f.status());
  const Tensor oix = f.Transpose(made, Exchanged(made.dims.size()));
  TIM_RETURN_IF_ERROR(f.status());
  return f.Store(0, f.Try(FromOix(lowering, op, oix)));
}

// ---- Records ----

template <tim_graph_op_attr_t attribute>
Result<std::vector<Dims>> EmptyShape(const Op& op, const std::vector<Dims>&) {
  TIM_ASSIGN_OR_RETURN(Dims shape, GivenShape(op, attribute));
  return std::vector<Dims>{std::move(shape)};
}

// Sums of nothing.
template <tim_graph_op_attr_t attribute>
Status LowerZeros(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(const Dims shape, GivenShape(op, attribute));
  Formula f(lowering);
  return f.Store(0, f.Try(lowering.Filled(0, shape)));
}

enum class Of : uint8_t { kData, kWeights };

OpDef Record(tim_graph_op_kind_t kind, const char* name, Of of,
             std::vector<std::string> weights_formats) {
  OpDef def = {.kind = kind,
               .name = name,
               .types = {{"T1", FloatTypes()}, {"T2", {tim_graph_s32}}},
               .attributes = WindowDefs(),
               .rule = CheckPads,
               .anchor = true};
  if (of == Of::kData) {
    def.inputs = {{"diff_dst", "T1"}, {"weights", "T1"}};
    def.outputs = {{"diff_src", "T1"}};
  } else {
    def.inputs = {{"src", "T1"}, {"diff_dst", "T1"}};
    def.outputs = {{"diff_weights", "T1"}};
  }
  def.attributes.push_back({.attribute = tim_graph_op_attr_dilations});
  def.attributes.push_back(
      {.attribute = tim_graph_op_attr_groups, .default_value = int64_t{1}});
  def.attributes.push_back(WeightsFormatDef(std::move(weights_formats)));
  return def;
}

void AddShape(const char* name, tim_graph_op_attr_t attribute, OpDef* def) {
  def->inputs.push_back({name, "T2", true});
  def->attributes.push_back({.attribute = attribute, .optional = true});
}

void AddOutputPadding(OpDef* def) {
  def->attributes.push_back(
      {.attribute = tim_graph_op_attr_output_padding, .optional = true});
}

OpDef WeightsRecord(tim_graph_op_kind_t kind, const char* name,
                    std::vector<std::string> weights_formats) {
  OpDef def = Record(kind, name, Of::kWeights, std::move(weights_formats));
  AddShape("weights_shape", tim_graph_op_attr_weights_shape, &def);
  def.lower_empty = LowerZeros<tim_graph_op_attr_weights_shape>;
  def.empty_dims = EmptyShape<tim_graph_op_attr_weights_shape>;
  return def;
}

}  // namespace

TIM_GRAPH_OPS(backward_convolution) {
  OpDef data = Record(tim_graph_op_convolution_backward_data,
                      "ConvolutionBackwardData", Of::kData, {"XIO", "OIX"});
  AddShape("dst_shape", tim_graph_op_attr_dst_shape, &data);
  AddOutputPadding(&data);
  data.lower = LowerData;
  data.lower_empty = LowerZeros<tim_graph_op_attr_dst_shape>;
  data.empty_dims = EmptyShape<tim_graph_op_attr_dst_shape>;
  table.Add(std::move(data));

  OpDef weights = WeightsRecord(tim_graph_op_convolution_backward_weights,
                                "ConvolutionBackwardWeights", {"XIO", "OIX"});
  weights.lower = LowerWeights;
  table.Add(std::move(weights));

  OpDef transposed =
      Record(tim_graph_op_conv_transpose_backward_data,
             "ConvTransposeBackwardData", Of::kData, {"XOI", "IOX"});
  AddOutputPadding(&transposed);
  transposed.lower = LowerTransposedData;
  table.Add(std::move(transposed));

  OpDef transposed_weights =
      WeightsRecord(tim_graph_op_conv_transpose_backward_weights,
                    "ConvTransposeBackwardWeights", {"XOI", "IOX"});
  AddOutputPadding(&transposed_weights);
  transposed_weights.lower = LowerTransposedWeights;
  table.Add(std::move(transposed_weights));
}

}  // namespace tim::graph
