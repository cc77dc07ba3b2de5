// Element-wise operations of one input.
//
// Most are one operator of the library each: rows of a table that name it and
// where its attributes come from.
#include <string>
#include <utility>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

// An attribute that the inner operator has under a name of its own.
struct Passed {
  tim_graph_op_attr_t attribute;
  const char* inner;
};

struct Row {
  tim_graph_op_kind_t kind;
  const char* name;
  const char* inner;
  /// Required, of float.
  std::vector<Passed> passed = {};
};

std::vector<Row> Rows() {
  return {
      {tim_graph_op_abs, "Abs", "Abs"},
      {tim_graph_op_exp, "Exp", "Exp"},
      {tim_graph_op_log, "Log", "Log"},
      {tim_graph_op_sqrt, "Sqrt", "Sqrt"},
      {tim_graph_op_square, "Square", "Square"},
      {tim_graph_op_sigmoid, "Sigmoid", "Sigmoid"},
      {tim_graph_op_tanh, "Tanh", "Tanh"},
      {tim_graph_op_mish, "Mish", "Mish"},
      {tim_graph_op_hard_swish, "HardSwish", "HardSwish"},
      {tim_graph_op_relu, "ReLU", "Relu"},
      {tim_graph_op_round, "Round", "Round"},
      {tim_graph_op_reciprocal, "Reciprocal", "Rcp"},
      {tim_graph_op_leaky_relu,
       "LeakyReLU",
       "LeakyRelu",
       {{tim_graph_op_attr_alpha, "alpha"}}},
      {tim_graph_op_elu, "Elu", "Elu", {{tim_graph_op_attr_alpha, "alpha"}}},
      {tim_graph_op_hard_sigmoid,
       "HardSigmoid",
       "HardSigmoid",
       {{tim_graph_op_attr_alpha, "alpha"}, {tim_graph_op_attr_beta, "beta"}}},
      {tim_graph_op_clamp,
       "Clamp",
       "Clip",
       {{tim_graph_op_attr_min, "min"}, {tim_graph_op_attr_max, "max"}}},
  };
}

OpDef Unary(tim_graph_op_kind_t kind, std::string name) {
  OpDef def;
  def.kind = kind;
  def.name = std::move(name);
  def.types = {{"T", FloatTypes()}};
  def.inputs = {{"src", "T"}};
  def.outputs = {{"dst", "T"}};
  def.in_place = true;
  return def;
}

OpDef DefOf(const Row& row) {
  OpDef def = Unary(row.kind, row.name);
  for (const Passed& passed : row.passed) {
    def.attributes.push_back({.attribute = passed.attribute});
  }
  def.takes_half = true;
  def.lower = [row](const Op& op, Lowering& lowering) {
    ir::AttributeMap attributes;
    for (const Passed& passed : row.passed) {
      attributes.Set(passed.inner,
                     static_cast<double>(op.Float(passed.attribute)));
    }
    Formula f(lowering);
    return f.Store(0, f.Unary(row.inner, f.In(0), std::move(attributes)));
  };
  return def;
}

OpDef Gelu() {
  OpDef def = Unary(tim_graph_op_gelu, "GELU");
  def.attributes = {{.attribute = tim_graph_op_attr_mode,
                     .default_value = std::string("gelu_erf"),
                     .choices = {"gelu_erf", "gelu_tanh"}}};
  def.takes_half = true;
  def.lower = [](const Op& op, Lowering& lowering) {
    const bool tanh = op.String(tim_graph_op_attr_mode) == "gelu_tanh";
    Formula f(lowering);
    return f.Store(0, f.Unary("Gelu", f.In(0), {{"approximate", tanh}}));
  };
  return def;
}

// ln(1 + e^(beta * x)) / beta
OpDef SoftPlus() {
  OpDef def = Unary(tim_graph_op_softplus, "SoftPlus");
  def.attributes = {
      {.attribute = tim_graph_op_attr_beta, .default_value = 1.0f}};
  def.lower = [](const Op& op, Lowering& lowering) {
    const double beta = op.Float(tim_graph_op_attr_beta);
    Formula f(lowering);
    if (beta == 1) return f.Store(0, f.Unary("SoftRelu", f.In(0)));
    const Tensor soft = f.Unary("SoftRelu", f.Linear(f.In(0), beta, 0));
    return f.Store(0, f.Linear(soft, 1 / beta, 0));
  };
  return def;
}

// x^beta
OpDef Pow() {
  OpDef def = Unary(tim_graph_op_pow, "Pow");
  def.attributes = {{.attribute = tim_graph_op_attr_beta}};
  def.lower = [](const Op& op, Lowering& lowering) {
    const float beta = op.Float(tim_graph_op_attr_beta);
    Formula f(lowering);
    if (beta == 2) return f.Store(0, f.Unary("Square", f.In(0)));
    if (beta == 0.5f) return f.Store(0, f.Unary("Sqrt", f.In(0)));
    if (beta == -1) return f.Store(0, f.Unary("Rcp", f.In(0)));
    return f.Store(0, f.Binary("Pow", f.In(0), f.Number(beta)));
  };
  return def;
}

Status CheckTypeCast(const Op& op) {
  const tim_graph_data_type_t from = op.inputs[0].data_type;
  const tim_graph_data_type_t to = op.outputs[0].data_type;
  if (from != to && (from == tim_graph_f32 || to == tim_graph_f32)) {
    return OkStatus();
  }
  return InvalidArgument("src is ", tim_graph_dt2str(from), " and dst ",
                         tim_graph_dt2str(to),
                         ", expected f32 for one of them and bf16 or f16 for "
                         "the other");
}

// The result is the source, of dst's type.
Status LowerSame(const Op&, Lowering& lowering) {
  lowering.SetOutput(0, lowering.input(0));
  return OkStatus();
}

OpDef TypeCast() {
  OpDef def = Unary(tim_graph_op_type_cast, "TypeCast");
  def.types = {{"T1", FloatTypes()}, {"T2", FloatTypes()}};
  def.inputs = {{"src", "T1"}};
  def.outputs = {{"dst", "T2"}};
  def.rule = CheckTypeCast;
  def.lower = LowerSame;
  return def;
}

// Layouts of the ports may differ.
OpDef Reorder() {
  OpDef def = Unary(tim_graph_op_reorder, "Reorder");
  def.types[0].types.insert(def.types[0].types.end(),
                            {tim_graph_s32, tim_graph_s8, tim_graph_u8});
  def.moves_elements = true;
  def.lower = LowerSame;
  return def;
}

Status LowerGenIndex(const Op& op, Lowering& lowering) {
  const Dims dims = lowering.input(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  TIM_ASSIGN_OR_RETURN(const int64_t axis,
                       PositiveAxis(op.Int(tim_graph_op_attr_axis), rank));
  const int64_t extent = dims[static_cast<size_t>(axis)];
  if (extent > int64_t{1} << 31) {
    return Unimplemented("axis ", axis, " has an extent of ", extent,
                         ", whose indices s32 does not hold");
  }
  std::vector<int32_t> indices(static_cast<size_t>(extent));
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<int32_t>(i);
  }
  Formula f(lowering);
  const Tensor along =
      f.Try(lowering.Constant(indices, AlongAxis(rank, axis, extent)));
  return f.Store(0, f.Broadcast(along, dims));
}

// Index of each element along an axis.
OpDef GenIndex() {
  OpDef def = Unary(tim_graph_op_gen_index, "GenIndex");
  def.types = {{"T1", FloatTypes()}, {"T2", {tim_graph_s32}}};
  def.inputs = {{"src", "T1"}};
  def.outputs = {{"dst", "T2"}};
  def.attributes = {{.attribute = tim_graph_op_attr_axis}};
  def.moves_elements = true;
  def.lower = LowerGenIndex;
  def.empty_dims =
      [](const Op& op,
         const std::vector<Dims>& inputs) -> Result<std::vector<Dims>> {
    const auto rank = static_cast<int64_t>(inputs[0].size());
    TIM_RETURN_IF_ERROR(
        PositiveAxis(op.Int(tim_graph_op_attr_axis), rank).status());
    return std::vector<Dims>{inputs[0]};
  };
  return def;
}

}  // namespace

TIM_GRAPH_OPS(elementwise) {
  for (const Row& row : Rows()) table.Add(DefOf(row));
  table.Add(Gelu());
  table.Add(SoftPlus());
  table.Add(Pow());
  table.Add(TypeCast());
  table.Add(Reorder());
  table.Add(GenIndex());
}

}  // namespace tim::graph
