// Operations that move elements: StaticReshape, StaticTranspose and Concat; and
// the two that mark tensors, End and Wildcard.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "graph_api/formula.h"
#include "graph_api/lower_ops.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

std::string TextOf(const Dims& dims) {
  return StrCat("{", StrJoin(dims, ", "), "}");
}

// One tensor to one whose elements are the same.
OpDef Moved(tim_graph_op_kind_t kind, std::string name) {
  OpDef def;
  def.kind = kind;
  def.name = std::move(name);
  def.types = {{"T", FloatTypes()}};
  def.inputs = {{"src", "T"}};
  def.outputs = {{"dst", "T"}};
  def.moves_elements = true;
  return def;
}

// ---- StaticReshape.

// -1: the product is beyond 64 bits.
int64_t Volume(const Dims& dims) {
  if (IsEmpty(dims)) return 0;
  int64_t volume = 1;
  for (const int64_t extent : dims) {
    const auto next = CheckedMul(volume, extent);
    if (!next) return -1;
    volume = *next;
  }
  return volume;
}

// `shape` with source extents for zeros, where it means them.
Result<Dims> WithZerosFilled(const Op& op, const Dims& src) {
  Dims dims = op.Ints(tim_graph_op_attr_shape);
  const bool special = op.Bool(tim_graph_op_attr_special_zero);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < -1) {
      return InvalidArgument("attribute 'shape' ", TextOf(dims), " has ",
                             dims[i], " at ", i,
                             ", expected an extent, or -1 for what is left");
    }
    if (!special || dims[i] != 0) continue;
    if (i >= src.size()) {
      return InvalidArgument("attribute 'shape' ", TextOf(dims), " takes axis ",
                             i, " of src ", TextOf(src),
                             ", which has no such axis");
    }
    dims[i] = src[i];
  }
  return dims;
}

Result<Dims> ReshapedDims(const Op& op, const Dims& src) {
  TIM_ASSIGN_OR_RETURN(Dims dims, WithZerosFilled(op, src));
  const int64_t volume = Volume(src);
  const auto open = std::find(dims.begin(), dims.end(), -1);
  if (open != dims.end()) {
    if (std::find(open + 1, dims.end(), -1) != dims.end()) {
      return InvalidArgument("attribute 'shape' ", TextOf(dims),
                             " has more than one -1");
    }
    *open = 1;
    const int64_t rest = Volume(dims);
    *open = rest > 0 && volume % rest == 0 ? volume / rest : -1;
  }
  if (Volume(dims) == volume && (open == dims.end() || *open >= 0)) return dims;
  return InvalidArgument(
      "attribute 'shape' ", TextOf(op.Ints(tim_graph_op_attr_shape)),
      " does not hold the ", volume, " elements of src ", TextOf(src));
}

OpDef StaticReshape() {
  OpDef def = Moved(tim_graph_op_static_reshape, "StaticReshape");
  def.attributes = {{.attribute = tim_graph_op_attr_shape},
                    {.attribute = tim_graph_op_attr_special_zero}};
  def.lower = [](const Op& op, Lowering& lowering) -> Status {
    const Tensor src = lowering.input(0);
    TIM_ASSIGN_OR_RETURN(const Dims dims, ReshapedDims(op, src.dims));
    if (std::cmp_greater(dims.size(), ir::kMaxRank)) {
      return Unimplemented("dst has ", dims.size(), " dims, at most ",
                           ir::kMaxRank, " are supported");
    }
    Formula f(lowering);
    return f.Store(0, f.Reshape(src, dims));
  };
  def.empty_dims =
      [](const Op& op,
         const std::vector<Dims>& inputs) -> Result<std::vector<Dims>> {
    TIM_ASSIGN_OR_RETURN(Dims dims, ReshapedDims(op, inputs[0]));
    return std::vector<Dims>{std::move(dims)};
  };
  return def;
}

// ---- StaticTranspose.

// Source axis of each axis of the result.
Result<std::vector<int64_t>> OrderOf(const Op& op, const Dims& src) {
  const Dims& given = op.Ints(tim_graph_op_attr_order);
  const auto rank = static_cast<int64_t>(src.size());
  std::vector<int64_t> order(src.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (given.empty()) return order;
  if (given.size() != src.size()) {
    return InvalidArgument("attribute 'order' ", TextOf(given), " has ",
                           given.size(), " entries, expected ", rank,
                           ", one for each axis of src ", TextOf(src));
  }
  std::vector<bool> used(src.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const auto axis = PositiveAxis(given[i], rank);
    if (!axis.ok()) {
      return axis.status().WithContext(
          StrCat("attribute 'order' ", TextOf(given)));
    }
    if (used[static_cast<size_t>(*axis)]) {
      return InvalidArgument("attribute 'order' ", TextOf(given), " has axis ",
                             *axis, " twice");
    }
    used[static_cast<size_t>(*axis)] = true;
    order[i] = *axis;
  }
  return order;
}

OpDef StaticTranspose() {
  OpDef def = Moved(tim_graph_op_static_transpose, "StaticTranspose");
  def.attributes = {{.attribute = tim_graph_op_attr_order}};
  def.lower = [](const Op& op, Lowering& lowering) -> Status {
    const Tensor src = lowering.input(0);
    TIM_ASSIGN_OR_RETURN(const auto order, OrderOf(op, src.dims));
    Formula f(lowering);
    return f.Store(0, f.Transpose(src, order));
  };
  def.empty_dims =
      [](const Op& op,
         const std::vector<Dims>& inputs) -> Result<std::vector<Dims>> {
    TIM_ASSIGN_OR_RETURN(const auto order, OrderOf(op, inputs[0]));
    Dims dims;
    for (const int64_t axis : order) {
      dims.push_back(inputs[0][static_cast<size_t>(axis)]);
    }
    return std::vector<Dims>{std::move(dims)};
  };
  return def;
}

// ---- Concat.

constexpr size_t kMostJoined = 64;

// kNotFound is an argument that no shape would make legal.
Result<size_t> JoinedAxis(const Op& op, const Dims& src) {
  const auto axis = PositiveAxis(op.Int(tim_graph_op_attr_axis),
                                 static_cast<int64_t>(src.size()));
  if (axis.ok()) return static_cast<size_t>(*axis);
  return NotFound("attribute 'axis': ", axis.status().message());
}

Result<Dims> JoinedDims(const Op& op, const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const size_t axis, JoinedAxis(op, inputs[0]));
  Dims dims = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    bool same = inputs[i].size() == dims.size();
    for (size_t k = 0; same && k < dims.size(); ++k) {
      same = k == axis || inputs[i][k] == dims[k];
    }
    const auto sum = same ? CheckedAdd(dims[axis], inputs[i][axis]) : 0;
    if (!same || !sum) {
      return InvalidArgument(
          "src ", i, " has dims ", TextOf(inputs[i]), ", src 0 ",
          TextOf(inputs[0]),
          same ? "; their sum along axis " : "; but for axis ", axis,
          same ? " is beyond 64 bits" : " they must be equal");
    }
    dims[axis] = *sum;
  }
  return dims;
}

// Sources without elements add nothing.
Status LowerConcat(const Op& op, Lowering& lowering) {
  std::vector<Dims> dims;
  std::vector<Tensor> joined;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const Tensor src = lowering.input(i);
    dims.push_back(src.dims);
    if (src) joined.push_back(src);
  }
  TIM_RETURN_IF_ERROR(JoinedDims(op, dims).status());
  if (joined.size() == 1) {
    lowering.SetOutput(0, joined[0]);
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const size_t axis, JoinedAxis(op, dims[0]));
  const auto count = static_cast<int64_t>(joined.size());
  const int64_t inner = InnerAxis(static_cast<int64_t>(axis), joined[0].rank());
  Formula f(lowering);
  return f.Store(0,
                 f.Try(lowering.Add("Concat", joined,
                                    {{"axis", inner}, {"input_cnt", count}})));
}

OpDef Concat() {
  OpDef def = Moved(tim_graph_op_concat, "Concat");
  def.most_inputs = kMostJoined;
  def.attributes = {{.attribute = tim_graph_op_attr_axis}};
  def.lower = LowerConcat;
  def.lower_empty = LowerConcat;
  def.empty_dims =
      [](const Op& op,
         const std::vector<Dims>& inputs) -> Result<std::vector<Dims>> {
    TIM_ASSIGN_OR_RETURN(Dims dims, JoinedDims(op, inputs));
    return std::vector<Dims>{std::move(dims)};
  };
  return def;
}

// ---- Marks, which are never lowered.

OpDef End() {
  OpDef def;
  def.kind = tim_graph_op_end;
  def.name = "End";
  Types types = FloatTypes();
  types.insert(types.end(), {tim_graph_s8, tim_graph_u8, tim_graph_s32,
                             tim_graph_data_type_undef});
  def.types = {{"T", std::move(types)}};
  def.inputs = {{"src", "T"}};
  return def;
}

OpDef Wildcard() {
  OpDef def;
  def.kind = tim_graph_op_wildcard;
  def.name = "Wildcard";
  def.inputs = {{"src", "any", true}};
  def.outputs = {{"dst", "any", true}};
  def.most_inputs = def.most_outputs = std::numeric_limits<size_t>::max();
  return def;
}

}  // namespace

TIM_GRAPH_OPS(shapes) {
  table.Add(StaticReshape());
  table.Add(StaticTranspose());
  table.Add(Concat());
  table.Add(End());
  table.Add(Wildcard());
}

}  // namespace tim::graph
