// BatchNormInference, LayerNorm, GroupNorm and RMSNorm.
#include <algorithm>

#include "graph_api/formula.h"
#include "graph_api/ops/statistics.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

// ---- What the kinds share ----

// One element for each of `channels`.
Status CheckChannels(const Op& op, size_t parameter, const Tensor& tensor,
                     int64_t channels) {
  if (tensor.dims == Dims{channels}) return OkStatus();
  return InvalidArgument(op.def->inputs[parameter].name, " has dims {",
                         StrJoin(tensor.dims, ", "), "}, expected {", channels,
                         "}, one for each channel");
}

// The dims of a parameter broadcast to `dims`.
Status CheckBroadcast(const Op& op, size_t parameter, const Dims& from,
                      const Dims& dims) {
  bool fits = from.size() <= dims.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    fits = from[i] == 1 || from[i] == dims[dims.size() - from.size() + i];
  }
  if (fits) return OkStatus();
  return InvalidArgument(
      op.def->inputs[parameter].name, " has dims {", StrJoin(from, ", "),
      "}, expected such as broadcast to {", StrJoin(dims, ", "), "}");
}

Status CheckChannelRank(const Dims& src) {
  if (src.size() >= 2) return OkStatus();
  return InvalidArgument("src has dims {", StrJoin(src, ", "),
                         "}, expected a rank of 2 or more");
}

// Product of dims [first, last).
int64_t Count(const Dims& dims, size_t first, size_t last) {
  return CountOf({dims.begin() + static_cast<ptrdiff_t>(first),
                  dims.begin() + static_cast<ptrdiff_t>(last)});
}

double Epsilon(const Op& op) { return op.Float(tim_graph_op_attr_epsilon); }

bool IsAffine(const Op& op) {
  return op.inputs.size() == 3 && op.Bool(tim_graph_op_attr_use_affine);
}

// Mean and variance of the last axis of `rows` are outputs 1 and 2.
Status StoreMoments(Formula& formula, const Tensor& rows, const Dims& dims) {
  if (!formula.lowering().wants_output(2)) return OkStatus();
  TIM_RETURN_IF_ERROR(formula.status());
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Tensor> moments,
      formula.lowering().AddMany(
          "Moments", {rows},
          {{"axes", std::vector<int64_t>{0}}, {"keep_dims", false}},
          {Wanted(), Wanted()}));
  TIM_RETURN_IF_ERROR(formula.Store(1, formula.Reshape(moments[0], dims)));
  return formula.Store(2, formula.Reshape(moments[1], dims));
}

std::vector<AttributeDef> NormDefs() {
  return {
      {.attribute = tim_graph_op_attr_keep_stats, .default_value = true},
      {.attribute = tim_graph_op_attr_use_affine, .default_value = true},
      {.attribute = tim_graph_op_attr_epsilon, .default_value = 1e-5f},
  };
}

AttributeDef BeginAxisDef() {
  return {.attribute = tim_graph_op_attr_begin_norm_axis,
          .default_value = int64_t{-1}};
}

Status CheckNorm(const Op& op) {
  TIM_RETURN_IF_ERROR(CheckBfloat16(op, 1));
  // The type of mean and variance alone, where there is no gamma.
  const auto src = op.inputs[0].data_type;
  if (op.outputs.size() == 3 && op.outputs[1].data_type == tim_graph_bf16 &&
      src != tim_graph_bf16) {
    return InvalidArgument("mean is bf16 and src ", tim_graph_dt2str(src),
                           ", expected src in bf16, too");
  }
  if (!op.Bool(tim_graph_op_attr_keep_stats) || op.outputs.size() == 3) {
    return OkStatus();
  }
  return InvalidArgument("attribute 'keep_stats' is true and ",
                         op.outputs.size(),
                         " output is given, expected 3: dst, mean, variance");
}

// LayerNorm and GroupNorm have the same operands.
OpDef NormDef(tim_graph_op_kind_t kind, std::string name) {
  OpDef def;
  def.kind = kind;
  def.name = std::move(name);
  def.types = {{"T1", FloatTypes()}, {"T2", {tim_graph_f32, tim_graph_bf16}}};
  def.inputs = {{"src", "T1"}, {"gamma", "T2", true}, {"beta", "T2", true}};
  def.outputs = {{"dst", "T1"}, {"mean", "T2", true}, {"variance", "T2", true}};
  def.input_counts = def.output_counts = {1, 3};
  def.attributes = NormDefs();
  def.rule = CheckNorm;
  return def;
}

// dst as src, and statistics of `dims` where there are such.
std::vector<Dims> WithStatistics(const Op& op, const Dims& src,
                                 const Dims& dims) {
  std::vector<Dims> out = {src};
  out.resize(op.outputs.size(), dims);
  return out;
}

// ---- BatchNormInference ----

Status LowerBatchNorm(const Op& op, Lowering& lowering) {
  enum : size_t { kSrc, kGamma, kBeta, kMean, kVariance };
  const Tensor src = lowering.input(kSrc);
  TIM_RETURN_IF_ERROR(CheckChannelRank(src.dims));
  const int64_t channels = ToNcx(op, src.dims)[1];
  for (const size_t i : {kGamma, kBeta, kMean, kVariance}) {
    TIM_RETURN_IF_ERROR(CheckChannels(op, i, lowering.input(i), channels));
  }
  TIM_ASSIGN_OR_RETURN(const Tensor ncx, ToNcx(lowering, op, src));
  TIM_ASSIGN_OR_RETURN(
      const Tensor made,
      lowering.Add("BatchNorm",
                   {ncx, lowering.input(kMean), lowering.input(kVariance),
                    lowering.input(kGamma), lowering.input(kBeta)},
                   {{"eps", Epsilon(op)}}));
  TIM_ASSIGN_OR_RETURN(const Tensor dst, FromNcx(lowering, op, made));
  lowering.SetOutput(0, dst);
  return OkStatus();
}

OpDef BatchNormDef() {
  OpDef def;
  def.kind = tim_graph_op_batch_norm_inference;
  def.name = "BatchNormInference";
  def.types = {{"T1", FloatTypes()}, {"T2", {tim_graph_f32, tim_graph_bf16}}};
  def.inputs = {{"src", "T1"},
                {"gamma", "T2"},
                {"beta", "T2"},
                {"mean", "T2"},
                {"variance", "T2"}};
  def.outputs = {{"dst", "T1"}};
  def.attributes = {{.attribute = tim_graph_op_attr_epsilon}, DataFormatDef()};
  def.rule = [](const Op& op) { return CheckBfloat16(op, 1); };
  def.lower = LowerBatchNorm;
  return def;
}

// ---- LayerNorm ----

Result<size_t> BeginAxis(const Op& op, const Dims& src) {
  auto axis = PositiveAxis(op.Int(tim_graph_op_attr_begin_norm_axis),
                           static_cast<int64_t>(src.size()));
  if (axis.ok()) return static_cast<size_t>(*axis);
  return axis.status().WithContext("attribute 'begin_norm_axis'");
}

// One for each element of the normalized axes, given in their dims, in one, or
// in such as broadcast to them.
Tensor RowParameter(const Op& op, Formula& formula, size_t index,
                    const Dims& normalized) {
  const Tensor parameter = formula.In(index);
  const int64_t count = CountOf(normalized);
  if (CountOf(parameter.dims) == count) {
    return formula.Reshape(parameter, {count});
  }
  formula.Try(CheckBroadcast(op, index, parameter.dims, normalized));
  return formula.Reshape(formula.Broadcast(parameter, normalized), {count});
}

Status LowerLayerNorm(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  const Tensor src = formula.In(0);
  TIM_ASSIGN_OR_RETURN(const size_t begin, BeginAxis(op, src.dims));
  const Dims kept(src.dims.begin(),
                  src.dims.begin() + static_cast<ptrdiff_t>(begin));
  const Dims normalized(src.dims.begin() + static_cast<ptrdiff_t>(begin),
                        src.dims.end());
  const int64_t count = CountOf(normalized);
  const Tensor rows = formula.Reshape(src, {CountOf(kept), count});
  Tensor gamma, beta;
  if (IsAffine(op)) {
    gamma = RowParameter(op, formula, 1, normalized);
    beta = RowParameter(op, formula, 2, normalized);
  } else {
    gamma = formula.Try(lowering.Filled(1, {count}));
    beta = formula.Try(lowering.Filled(0, {count}));
  }
  TIM_RETURN_IF_ERROR(formula.status());
  const Tensor made =
      formula.Try(lowering.Add("LayerNormalization", {rows, beta, gamma},
                               {{"axis", int64_t{0}}, {"eps", Epsilon(op)}}));
  TIM_RETURN_IF_ERROR(formula.Store(0, formula.Reshape(made, src.dims)));
  return StoreMoments(formula, rows, kept);
}

Result<std::vector<Dims>> EmptyLayerNormDims(const Op& op,
                                             const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const size_t begin, BeginAxis(op, inputs[0]));
  return WithStatistics(
      op, inputs[0],
      {inputs[0].begin(), inputs[0].begin() + static_cast<ptrdiff_t>(begin)});
}

// ---- GroupNorm ----

Status CheckGroups(const Op& op, const Dims& src) {
  TIM_RETURN_IF_ERROR(CheckChannelRank(src));
  const int64_t groups = op.Int(tim_graph_op_attr_groups);
  const int64_t channels = ToNcx(op, src)[1];
  if (groups >= 1 && channels % groups == 0) return OkStatus();
  return InvalidArgument("attribute 'groups' is ", groups,
                         ", expected a divisor of src's ", channels,
                         " channels");
}

Tensor Scaled(const Op& op, Formula& formula, const Tensor& x) {
  if (!IsAffine(op) || !formula.status().ok()) return x;
  const Dims along = AlongAxis(x.rank(), 1, x.dims[1]);
  for (const size_t i : {size_t{1}, size_t{2}}) {
    formula.Try(CheckChannels(op, i, formula.In(i), x.dims[1]));
  }
  return formula.Add(formula.Multiply(x, formula.Reshape(formula.In(1), along)),
                     formula.Reshape(formula.In(2), along));
}

Status LowerGroupNorm(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  TIM_RETURN_IF_ERROR(CheckGroups(op, formula.In(0).dims));
  TIM_ASSIGN_OR_RETURN(const Tensor ncx, ToNcx(lowering, op, formula.In(0)));
  const int64_t groups = op.Int(tim_graph_op_attr_groups);
  const int64_t count = Count(ncx.dims, 1, ncx.dims.size()) / groups;
  const Tensor rows = formula.Reshape(ncx, {ncx.dims[0], groups, count});
  const Tensor zeros = formula.Try(lowering.Filled(0, {groups}));
  const Tensor ones = formula.Try(lowering.Filled(1, {groups}));
  TIM_RETURN_IF_ERROR(formula.status());
  const Tensor normalized = formula.Try(lowering.Add(
      "InstanceNormalization", {rows, zeros, ones}, {{"eps", Epsilon(op)}}));
  const Tensor made =
      Scaled(op, formula, formula.Reshape(normalized, ncx.dims));
  TIM_RETURN_IF_ERROR(formula.status());
  TIM_ASSIGN_OR_RETURN(const Tensor dst, FromNcx(lowering, op, made));
  TIM_RETURN_IF_ERROR(formula.Store(0, dst));
  return StoreMoments(formula, rows, {ncx.dims[0], groups});
}

Result<std::vector<Dims>> EmptyGroupNormDims(const Op& op,
                                             const std::vector<Dims>& inputs) {
  TIM_RETURN_IF_ERROR(CheckGroups(op, inputs[0]));
  return WithStatistics(op, inputs[0],
                        {inputs[0][0], op.Int(tim_graph_op_attr_groups)});
}

// ---- RMSNorm ----

Status LowerRmsNorm(const Op& op, Lowering& lowering) {
  Formula formula(lowering);
  const Tensor src = formula.In(0);
  TIM_ASSIGN_OR_RETURN(const size_t begin, BeginAxis(op, src.dims));
  const int64_t count = Count(src.dims, begin, src.dims.size());
  const Tensor rows = formula.Reshape(src, {Count(src.dims, 0, begin), count});
  const Tensor mean = formula.Mean(formula.Unary("Square", rows), {1});
  const Tensor factor =
      formula.Unary("Rsqrt", formula.Linear(mean, 1, Epsilon(op)));
  Tensor made = formula.Reshape(formula.Multiply(rows, factor), src.dims);
  if (const Tensor gamma = formula.In(1)) {
    TIM_RETURN_IF_ERROR(CheckBroadcast(op, 1, gamma.dims, src.dims));
    made = formula.Multiply(made, gamma);
  }
  return formula.Store(0, made);
}

OpDef RmsNormDef() {
  OpDef def;
  def.kind = tim_graph_op_rms_norm;
  def.name = "RMSNorm";
  def.types = {{"T1", FloatTypes()}, {"T2", FloatTypes()}};
  def.inputs = {{"src", "T1"}, {"gamma", "T2", true}};
  def.outputs = {{"dst", "T1"}};
  def.attributes = {
      BeginAxisDef(),
      {.attribute = tim_graph_op_attr_epsilon, .default_value = 1e-5f}};
  def.rule = [](const Op& op) { return CheckBfloat16(op, 1); };
  def.lower = LowerRmsNorm;
  return def;
}

}  // namespace

TIM_GRAPH_OPS(normalization) {
  table.Add(BatchNormDef());

  OpDef layer = NormDef(tim_graph_op_layer_norm, "LayerNorm");
  layer.attributes.push_back(BeginAxisDef());
  layer.lower = LowerLayerNorm;
  layer.empty_dims = EmptyLayerNormDims;
  table.Add(std::move(layer));

  OpDef group = NormDef(tim_graph_op_group_norm, "GroupNorm");
  group.attributes.push_back({.attribute = tim_graph_op_attr_groups});
  group.attributes.push_back(DataFormatDef());
  group.lower = LowerGroupNorm;
  group.empty_dims = EmptyGroupNormDims;
  table.Add(std::move(group));

  table.Add(RmsNormDef());
}

}  // namespace tim::graph
