// Gradients of SoftMax, LogSoftmax, BatchNorm and LayerNorm.
#include <cstdint>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/statistics.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

Status CheckSameDims(const char* name, const Tensor& x, const Tensor& other) {
  if (x.dims == other.dims) return OkStatus();
  return InvalidArgument(name, " has dims {", StrJoin(other.dims, ", "),
                         "}, expected {", StrJoin(x.dims, ", "), "}");
}

// ---- SoftMax and LogSoftmax ----

Status CheckSoftmaxTypes(const Op& op) {
  const tim_graph_data_type_t type = op.outputs[0].data_type;
  if (type == op.inputs[0].data_type || type == tim_graph_f32) {
    return OkStatus();
  }
  return InvalidArgument("diff_src is ", tim_graph_dt2str(type),
                         ", expected the type of diff_dst, ",
                         tim_graph_dt2str(op.inputs[0].data_type), ", or f32");
}

// d * (dd - sum(dd * d))
Tensor Softmax(Formula& f, const Tensor& dd, const Tensor& d, int64_t axis) {
  const Tensor sum = f.Sum(f.Multiply(dd, d), {axis});
  return f.Multiply(d, f.Sub(dd, sum));
}

// dd - e^d * sum(dd)
Tensor LogSoftmax(Formula& f, const Tensor& dd, const Tensor& d, int64_t axis) {
  return f.Sub(dd, f.Multiply(f.Unary("Exp", d), f.Sum(dd, {axis})));
}

template <auto gradient>
Status LowerSoftmax(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor dd = f.In(0);
  TIM_RETURN_IF_ERROR(CheckSameDims("dst", dd, f.In(1)));
  TIM_ASSIGN_OR_RETURN(const int64_t axis,
                       PositiveAxis(op.Int(tim_graph_op_attr_axis), dd.rank()));
  return f.Store(0, gradient(f, dd, f.In(1), axis));
}

// ---- BatchNorm ----

Status LowerBatchNorm(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor src = f.In(0);
  const Tensor dd = f.In(1);
  TIM_RETURN_IF_ERROR(CheckSameDims("diff_dst", src, dd));
  if (src.rank() < 4) {
    return InvalidArgument("src has the rank ", src.rank(),
                           ", expected 4 or more");
  }
  const ChannelStatistics channels(op, src.dims);
  for (size_t i = 2; i < op.inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(channels.Check(op.def->inputs[i].name, f.In(i).dims));
  }
  const auto& axes = channels.reduced();
  const double count = static_cast<double>(CountOf(src.dims)) /
                       static_cast<double>(channels.channels());
  const Tensor factor = channels.Rsqrt(f, f.In(3));
  const Tensor normal =
      f.Multiply(f.Sub(src, channels.Place(f, f.In(2))), factor);
  const Tensor beta = f.Sum(dd, axes);
  const Tensor gamma = f.Sum(f.Multiply(dd, normal), axes);
  const Tensor centered =
      f.Sub(f.Sub(dd, f.Linear(beta, 1 / count, 0)),
            f.Multiply(normal, f.Linear(gamma, 1 / count, 0)));
  const Tensor scale =
      f.In(4) ? f.Multiply(channels.Place(f, f.In(4)), factor) : factor;
  TIM_RETURN_IF_ERROR(f.Store(0, f.Multiply(centered, scale)));
  const Dims side = {channels.channels()};
  TIM_RETURN_IF_ERROR(f.Store(1, f.Reshape(gamma, side)));
  return f.Store(2, f.Reshape(beta, side));
}

Result<std::vector<Dims>> EmptyBatchNorm(const Op& op,
                                         const std::vector<Dims>& inputs) {
  const Dims side = {ChannelStatistics(op, inputs[0]).channels()};
  return std::vector<Dims>{inputs[0], side, side};
}

// ---- LayerNorm ----

Status CheckLayerNorm(const Op& op) {
  TIM_RETURN_IF_ERROR(CheckStatisticsType(op));
  if (!op.Bool(tim_graph_op_attr_use_affine) || op.outputs.size() == 3) {
    return OkStatus();
  }
  return InvalidArgument("there is ", op.outputs.size(),
                         " output, expected 3 where use_affine is true");
}

// Src as rows, along each of which it was normalized.
struct Rows {
  int64_t count = 1;
  int64_t length = 1;
  Dims axes = {};  // Those of a row.
};

Result<Rows> RowsOf(const Op& op, const Dims& src) {
  TIM_ASSIGN_OR_RETURN(const int64_t axis,
                       PositiveAxis(op.Int(tim_graph_op_attr_begin_norm_axis),
                                    static_cast<int64_t>(src.size())));
  Rows rows = {.axes = {src.begin() + axis, src.end()}};
  rows.length = CountOf(rows.axes);
  rows.count = CountOf({src.begin(), src.begin() + axis});
  return rows;
}

Status CheckCount(const std::string& name, const Tensor& x, int64_t count) {
  if (CountOf(x.dims) == count) return OkStatus();
  return InvalidArgument(name, " has dims {", StrJoin(x.dims, ", "),
                         "}, expected ", count, " elements");
}

Status LowerLayerNorm(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_RETURN_IF_ERROR(CheckSameDims("diff_dst", f.In(0), f.In(1)));
  TIM_ASSIGN_OR_RETURN(const Rows rows, RowsOf(op, f.In(0).dims));
  for (size_t i = 2; i < op.inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckCount(op.def->inputs[i].name, f.In(i),
                                   i < 4 ? rows.count : rows.length));
  }
  const Dims flat = {rows.count, rows.length};
  const Tensor dd = f.Reshape(f.In(1), flat);
  const Tensor factor =
      f.Unary("Rsqrt", f.Linear(f.Reshape(f.In(3), {rows.count, 1}), 1,
                                op.Float(tim_graph_op_attr_epsilon)));
  const Tensor normal = f.Multiply(
      f.Sub(f.Reshape(f.In(0), flat), f.Reshape(f.In(2), {rows.count, 1})),
      factor);
  const bool affine = op.Bool(tim_graph_op_attr_use_affine) && f.In(4);
  const Tensor g =
      affine ? f.Multiply(dd, f.Reshape(f.In(4), {1, rows.length})) : dd;
  const Tensor along = f.Mean(f.Multiply(g, normal), {1});
  const Tensor centered =
      f.Sub(f.Sub(g, f.Mean(g, {1})), f.Multiply(normal, along));
  TIM_RETURN_IF_ERROR(
      f.Store(0, f.Reshape(f.Multiply(centered, factor), f.In(0).dims)));
  if (!lowering.wants_output(1)) return OkStatus();
  const Dims side = f.In(4) ? f.In(4).dims : rows.axes;
  TIM_RETURN_IF_ERROR(
      f.Store(1, f.Reshape(f.Sum(f.Multiply(dd, normal), {0}), side)));
  return f.Store(2, f.Reshape(f.Sum(dd, {0}), side));
}

Result<std::vector<Dims>> EmptyLayerNorm(const Op& op,
                                         const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const Rows rows, RowsOf(op, inputs[0]));
  const Dims side = inputs.size() > 4 ? inputs[4] : rows.axes;
  return std::vector<Dims>{inputs[0], side, side};
}

// ---- Records ----

OpDef SoftmaxRecord() {
  return {.kind = tim_graph_op_softmax_backward,
          .name = "SoftMaxBackward",
          .types = {{"T1", FloatTypes()}, {"T2", FloatTypes()}},
          .inputs = {{"diff_dst", "T1"}, {"dst", "T1"}},
          .outputs = {{"diff_src", "T2"}},
          .attributes = {{.attribute = tim_graph_op_attr_axis,
                          .default_value = int64_t{1}}},
          .rule = CheckSoftmaxTypes,
          .lower = LowerSoftmax<Softmax>};
}

OpDef LogSoftmaxRecord() {
  return {.kind = tim_graph_op_log_softmax_backward,
          .name = "LogSoftmaxBackward",
          .types = {{"T", FloatTypes()}},
          .inputs = {{"diff_dst", "T"}, {"dst", "T"}},
          .outputs = {{"diff_src", "T"}},
          .attributes = {{.attribute = tim_graph_op_attr_axis,
                          .default_value = int64_t{-1}}},
          .lower = LowerSoftmax<LogSoftmax>};
}

OpDef BatchNormRecord() {
  return {
      .kind = tim_graph_op_batch_norm_backward,
      .name = "BatchNormTrainingBackward",
      .types = StatisticsTypes(),
      .inputs = {{"src", "T1"},
                 {"diff_dst", "T1"},
                 {"mean", "T2"},
                 {"variance", "T2"},
                 {"gamma", "T2", true}},
      .outputs = {{"diff_src", "T1"},
                  {"diff_gamma", "T2", true},
                  {"diff_beta", "T2", true}},
      .attributes = {{.attribute = tim_graph_op_attr_epsilon}, DataFormatDef()},
      .rule = CheckStatisticsType,
      .lower = LowerBatchNorm,
      .empty_dims = EmptyBatchNorm};
}

OpDef LayerNormRecord() {
  return {.kind = tim_graph_op_layer_norm_backward,
          .name = "LayerNormBackward",
          .types = StatisticsTypes(),
          .inputs = {{"src", "T1"},
                     {"diff_dst", "T1"},
                     {"mean", "T2"},
                     {"variance", "T2"},
                     {"gamma", "T2", true},
                     {"beta", "T2", true}},
          .outputs = {{"diff_src", "T1"},
                      {"diff_gamma", "T2", true},
                      {"diff_beta", "T2", true}},
          .output_counts = {1, 3},
          .attributes = {{.attribute = tim_graph_op_attr_begin_norm_axis,
                          .default_value = int64_t{-1}},
                         {.attribute = tim_graph_op_attr_use_affine,
                          .default_value = true},
                         {.attribute = tim_graph_op_attr_epsilon,
                          .default_value = 1e-5f}},
          .rule = CheckLayerNorm,
          .lower = LowerLayerNorm,
          .empty_dims = EmptyLayerNorm};
}

}  // namespace

TIM_GRAPH_OPS(backward_normalization) {
  table.Add(SoftmaxRecord());
  table.Add(LogSoftmaxRecord());
  table.Add(BatchNormRecord());
  table.Add(LayerNormRecord());
}

}  // namespace tim::graph
