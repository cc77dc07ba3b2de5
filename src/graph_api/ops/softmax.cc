// SoftMax and LogSoftmax along one axis.
#include <limits>

#include "graph_api/formula.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Result<int64_t> AxisOf(const Op& op, const Dims& src) {
  auto axis = PositiveAxis(op.Int(tim_graph_op_attr_axis),
                           static_cast<int64_t>(src.size()));
  if (axis.ok()) return axis;
  return axis.status().WithContext("attribute 'axis'");
}

bool InfinityMakesZeros(const Op& op) {
  return op.String(tim_graph_op_attr_mode) == "inf_as_zero";
}

// m + ln(sum of e^(x - m)) along an axis, of which an extent of 1 stays.
Tensor LogSum(Formula& formula, const Tensor& x, const Tensor& largest,
              int64_t axis) {
  const Tensor powers = formula.Unary("Exp", formula.Sub(x, largest));
  return formula.Add(largest,
                     formula.Unary("Log", formula.Sum(powers, {axis})));
}

Status LowerSoftMax(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  const Tensor src = formula.In(0);
  TIM_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(op, src.dims));
  const int64_t inner = InnerAxis(axis, src.rank());
  Tensor dst = formula.Unary("Softmax", src, {{"beta", 1.0}, {"axis", inner}});
  const bool zeros = InfinityMakesZeros(op);
  const bool stats = lowering.wants_output(1);
  if (!zeros && !stats) return formula.Store(0, dst);
  const Tensor largest = formula.Unary(
      "ReduceMax", src,
      {{"axis", std::vector<int64_t>{inner}}, {"keep_dims", true}});
  Tensor sums = stats ? LogSum(formula, src, largest, axis) : Tensor();
  if (zeros) {
    // Differences to -inf are no numbers.
    const Tensor none =
        formula.Binary("Equal", largest, formula.Number(-kInfinity));
    dst = formula.Select(none, formula.Number(0), dst);
    if (stats) sums = formula.Select(none, largest, sums);
  }
  TIM_RETURN_IF_ERROR(formula.Store(0, dst));
  return stats ? formula.Store(1, sums) : OkStatus();
}

Result<std::vector<Dims>> EmptyDims(const Op& op,
                                    const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(op, inputs[0]));
  std::vector<Dims> out(op.outputs.size(), inputs[0]);
  if (out.size() > 1) out[1][static_cast<size_t>(axis)] = 1;
  return out;
}

Status CheckTypes(const Op& op) {
  const auto from = op.inputs[0].data_type;
  const auto to = op.outputs[0].data_type;
  if (from == to || from == tim_graph_f32 || to == tim_graph_f32) {
    return OkStatus();
  }
  return InvalidArgument("src is ", tim_graph_dt2str(from), " and dst ",
                         tim_graph_dt2str(to),
                         ", expected one type, or f32 for one of them");
}

Status LowerLogSoftmax(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  const Tensor src = formula.In(0);
  TIM_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(op, src.dims));
  return formula.Store(0,
                       formula.Unary("LogSoftmax", src,
                                     {{"axis", InnerAxis(axis, src.rank())}}));
}

}  // namespace

TIM_GRAPH_OPS(softmax) {
  OpDef softmax;
  softmax.kind = tim_graph_op_softmax;
  softmax.name = "SoftMax";
  softmax.types = {
      {"T1", FloatTypes()}, {"T2", FloatTypes()}, {"T3", {tim_graph_f32}}};
  softmax.inputs = {{"src", "T1"}};
  softmax.outputs = {{"dst", "T2"}, {"stats", "T3", true}};
  softmax.attributes = {
      {.attribute = tim_graph_op_attr_axis, .default_value = int64_t{1}},
      {.attribute = tim_graph_op_attr_mode,
       .default_value = std::string("none"),
       .choices = {"none", "inf_as_zero"}}};
  softmax.rule = CheckTypes;
  softmax.takes_half = true;
  softmax.lower = LowerSoftMax;
  softmax.empty_dims = EmptyDims;
  table.Add(std::move(softmax));

  OpDef logarithm;
  logarithm.kind = tim_graph_op_log_softmax;
  logarithm.name = "LogSoftmax";
  logarithm.types = {{"T", FloatTypes()}};
  logarithm.inputs = {{"src", "T"}};
  logarithm.outputs = {{"dst", "T"}};
  logarithm.attributes = {
      {.attribute = tim_graph_op_attr_axis, .default_value = int64_t{-1}}};
  logarithm.takes_half = true;
  logarithm.lower = LowerLogSoftmax;
  table.Add(std::move(logarithm));
}

}  // namespace tim::graph
