// Element-wise operations of two and three inputs, with broadcast.
//
// The last axes of this API are the first ones of the inner graph, where inner
// operators align operands of different rank too.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

using ir::DataType;

// ---- Broadcast.

std::string TextOf(const Dims& dims) {
  return StrCat("{", StrJoin(dims, ", "), "}");
}

AttributeDef BroadcastDef() {
  return {.attribute = tim_graph_op_attr_auto_broadcast,
          .default_value = std::string("numpy"),
          .choices = {"numpy", "none"}};
}

bool Broadcasts(const Op& op) {
  return op.String(tim_graph_op_attr_auto_broadcast) == "numpy";
}

int64_t ExtentFromLast(const Dims& dims, size_t i) {
  return i < dims.size() ? dims[dims.size() - 1 - i] : 1;
}

// Of operands `a` and `b`, as numpy stretches both.
Result<Dims> BroadcastDims(const Op& op, const Dims& a, const Dims& b) {
  if (!Broadcasts(op)) {
    if (a == b) return a;
    return InvalidArgument("inputs have dims ", TextOf(a), " and ", TextOf(b),
                           ", expected equal ones where auto_broadcast is "
                           "none");
  }
  Dims dims(std::max(a.size(), b.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t x = ExtentFromLast(a, i);
    const int64_t y = ExtentFromLast(b, i);
    if (x != y && x != 1 && y != 1) {
      return InvalidArgument("inputs have dims ", TextOf(a), " and ", TextOf(b),
                             ", which do not broadcast: ", x, " meets ", y,
                             " along axis ", dims.size() - 1 - i);
    }
    dims[dims.size() - 1 - i] = x == 1 ? y : x;
  }
  return dims;
}

// Whether an operand of these dims can be stretched to `target`.
bool Stretches(const Dims& dims, const Dims& target) {
  if (dims.size() > target.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t extent = ExtentFromLast(dims, i);
    if (extent != 1 && extent != ExtentFromLast(target, i)) return false;
  }
  return true;
}

Result<std::vector<Dims>> EmptyBroadcast(const Op& op,
                                         const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(op, inputs[0], inputs[1]));
  return std::vector<Dims>{std::move(dims)};
}

// ---- Two operands.

using Compute =
    std::function<Tensor(Formula&, const Tensor& x, const Tensor& y)>;

// One operator of the inner graph.
Compute Single(const char* inner) {
  return [inner](Formula& f, const Tensor& x, const Tensor& y) {
    return f.Binary(inner, x, y);
  };
}

Tensor SquaredDifference(Formula& f, const Tensor& x, const Tensor& y) {
  return f.Unary("Square", f.Sub(x, y));
}

enum class Operands : uint8_t {
  kAnyNumbers,  ///< T1, T2 and T3 of F and s32.
  kAnyFloats,   ///< T1, T2 and T3 of F.
  kSame,        ///< One type of F.
  kCompared,    ///< One type of F and s32; the result is boolean.
};

struct Row {
  tim_graph_op_kind_t kind;
  const char* name;
  Operands operands;
  Compute compute;
  bool takes_half = true;
};

std::vector<Row> Rows() {
  return {
      {tim_graph_op_add, "Add", Operands::kAnyNumbers, Single("Add")},
      {tim_graph_op_subtract, "Subtract", Operands::kAnyNumbers, Single("Sub")},
      {tim_graph_op_multiply, "Multiply", Operands::kAnyFloats,
       Single("Multiply")},
      {tim_graph_op_divide, "Divide", Operands::kAnyFloats, Single("Div")},
      {tim_graph_op_maximum, "Maximum", Operands::kSame, Single("Maximum")},
      {tim_graph_op_minimum, "Minimum", Operands::kSame, Single("Minimum")},
      {tim_graph_op_squared_difference, "SquaredDifference", Operands::kSame,
       SquaredDifference, false},
      {tim_graph_op_greater_equal, "GreaterEqual", Operands::kCompared,
       Single("GreaterOrEqual")},
  };
}

Types NumberTypes() {
  Types types = FloatTypes();
  types.push_back(tim_graph_s32);
  return types;
}

void SetOperands(Operands operands, OpDef* def) {
  def->inputs = {{"src_0", "T1"}, {"src_1", "T1"}};
  def->outputs = {{"dst", "T1"}};
  if (operands == Operands::kSame) {
    def->types = {{"T1", FloatTypes()}};
  } else if (operands == Operands::kCompared) {
    def->types = {{"T1", NumberTypes()}, {"T2", {tim_graph_boolean}}};
    def->outputs[0].type = "T2";
  } else {
    const Types types =
        operands == Operands::kAnyFloats ? FloatTypes() : NumberTypes();
    def->types = {{"T1", types}, {"T2", types}, {"T3", types}};
    def->inputs[1].type = "T2";
    def->outputs[0].type = "T3";
  }
}

// Arithmetic is of int32 where all operands are, or both that are compared;
// else it is of floats.
bool IsOfIntegers(const Op& op, const Lowering& lowering) {
  return lowering.input(0).type == DataType::kInt32 &&
         lowering.input(1).type == DataType::kInt32 &&
         (lowering.output_type(0) == DataType::kInt32 ||
          op.outputs[0].data_type == tim_graph_boolean);
}

Status LowerBinary(const Compute& compute, const Op& op, Lowering& lowering) {
  Formula f(lowering);
  Tensor x = f.In(0);
  Tensor y = f.In(1);
  TIM_RETURN_IF_ERROR(BroadcastDims(op, x.dims, y.dims).status());
  // Sums of float16 that become integers are rounded once, too.
  const bool half = x.type == DataType::kFloat16 &&
                    y.type == DataType::kFloat16 &&
                    lowering.output_type(0) != DataType::kInt32;
  if (!half && !IsOfIntegers(op, lowering)) {
    x = f.Cast(x, DataType::kFloat32);
    y = f.Cast(y, DataType::kFloat32);
  }
  return f.Store(0, compute(f, x, y));
}

OpDef DefOf(const Row& row) {
  OpDef def;
  def.kind = row.kind;
  def.name = row.name;
  SetOperands(row.operands, &def);
  def.attributes = {BroadcastDef()};
  def.in_place = true;
  def.takes_half = row.takes_half;
  def.lower = [compute = row.compute](const Op& op, Lowering& lowering) {
    return LowerBinary(compute, op, lowering);
  };
  def.empty_dims = EmptyBroadcast;
  return def;
}

// ---- Select.

// The condition is stretched to the others, and does not stretch them.
Result<Dims> SelectDims(const Op& op, const Dims& cond, const Dims& a,
                        const Dims& b) {
  TIM_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(op, a, b));
  if (Broadcasts(op) ? Stretches(cond, dims) : cond == dims) return dims;
  return InvalidArgument("cond has dims ", TextOf(cond),
                         ", expected such as broadcast to those of src_0 and "
                         "src_1, ",
                         TextOf(dims), Broadcasts(op) ? "" : ", or equal ones",
                         " (auto_broadcast ",
                         op.String(tim_graph_op_attr_auto_broadcast), ")");
}

Status LowerSelect(const Op& op, Lowering& lowering) {
  Formula f(lowering);
  TIM_RETURN_IF_ERROR(
      SelectDims(op, f.In(0).dims, f.In(1).dims, f.In(2).dims).status());
  return f.Store(0, f.Select(f.In(0), f.In(1), f.In(2)));
}

OpDef Select() {
  OpDef def;
  def.kind = tim_graph_op_select;
  def.name = "Select";
  def.types = {{"T1", {tim_graph_boolean}}, {"T2", FloatTypes()}};
  def.inputs = {{"cond", "T1"}, {"src_0", "T2"}, {"src_1", "T2"}};
  def.outputs = {{"dst", "T2"}};
  def.attributes = {BroadcastDef()};
  def.in_place = true;
  def.takes_half = true;
  def.lower = LowerSelect;
  def.empty_dims =
      [](const Op& op,
         const std::vector<Dims>& inputs) -> Result<std::vector<Dims>> {
    TIM_ASSIGN_OR_RETURN(Dims dims,
                         SelectDims(op, inputs[0], inputs[1], inputs[2]));
    return std::vector<Dims>{std::move(dims)};
  };
  return def;
}

// ---- Parameters of channels.

size_t ChannelAxis(const Op& op, const Dims& src) {
  return IsChannelsLast(op) ? src.size() - 1 : 1;
}

// Dims of a bias, placed along src's channels.
Result<Dims> BiasDims(const Op& op, const Dims& src, const Dims& bias) {
  if (src.size() < 2) {
    return InvalidArgument("src has dims ", TextOf(src),
                           ", expected a rank of 2 or more");
  }
  const size_t axis = ChannelAxis(op, src);
  if (bias != Dims{src[axis]}) {
    return InvalidArgument("bias has dims ", TextOf(bias), ", expected {",
                           src[axis], "}, the channels of src ", TextOf(src),
                           " in ", op.String(tim_graph_op_attr_data_format));
  }
  return AlongAxis(static_cast<int64_t>(src.size()), static_cast<int64_t>(axis),
                   src[axis]);
}

// Dims of a slope as it broadcasts to src.
Result<Dims> SlopeDims(const Op& op, const Dims& src, const Dims& slope) {
  const bool of_channels = slope.size() == 1 && slope[0] != 1 &&
                           op.Bool(tim_graph_op_attr_per_channel_broadcast);
  if (of_channels && src.size() >= 2) {
    const size_t axis = ChannelAxis(op, src);
    if (slope[0] == src[axis]) {
      return AlongAxis(static_cast<int64_t>(src.size()),
                       static_cast<int64_t>(axis), src[axis]);
    }
    return InvalidArgument("slope has dims ", TextOf(slope), ", expected {",
                           src[axis], "}, the channels of src ", TextOf(src),
                           " in ", op.String(tim_graph_op_attr_data_format));
  }
  if (Stretches(slope, src)) return slope;
  return InvalidArgument("slope has dims ", TextOf(slope),
                         ", which do not broadcast to those of src, ",
                         TextOf(src));
}

using PlacedDims = Result<Dims> (*)(const Op&, const Dims& src,
                                    const Dims& parameter);

// src and a parameter that is stretched to it.
OpDef WithParameter(tim_graph_op_kind_t kind, const char* name,
                    const char* parameter, PlacedDims placed_dims,
                    const char* inner, ir::AttributeMap inner_attributes) {
  OpDef def;
  def.kind = kind;
  def.name = name;
  def.types = {{"T", FloatTypes()}};
  def.inputs = {{"src", "T"}, {parameter, "T"}};
  def.outputs = {{"dst", "T"}};
  def.attributes = {DataFormatDef()};
  def.in_place = true;
  def.takes_half = true;
  def.lower = [=](const Op& op, Lowering& lowering) -> Status {
    Formula f(lowering);
    const Tensor src = f.In(0);
    TIM_ASSIGN_OR_RETURN(const Dims dims,
                         placed_dims(op, src.dims, f.In(1).dims));
    const Tensor placed = f.Reshape(f.In(1), dims);
    return f.Store(0,
                   f.Try(lowering.Add(inner, {src, placed}, inner_attributes)));
  };
  def.empty_dims =
      [=](const Op& op,
          const std::vector<Dims>& inputs) -> Result<std::vector<Dims>> {
    TIM_RETURN_IF_ERROR(placed_dims(op, inputs[0], inputs[1]).status());
    return std::vector<Dims>{inputs[0]};
  };
  return def;
}

}  // namespace

TIM_GRAPH_OPS(binary) {
  for (const Row& row : Rows()) table.Add(DefOf(row));
  table.Add(Select());
  table.Add(WithParameter(tim_graph_op_bias_add, "BiasAdd", "bias", BiasDims,
                          "Add", {}));
  OpDef prelu = WithParameter(tim_graph_op_prelu, "PReLU", "slope", SlopeDims,
                              "Prelu", {{"axis", int64_t{0}}});
  prelu.attributes.push_back(
      {.attribute = tim_graph_op_attr_per_channel_broadcast,
       .default_value = true});
  table.Add(std::move(prelu));
}

}  // namespace tim::graph
