// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1 and
// ReduceL2: elements along some axes become one.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/formula.h"
#include "graph_api/lowering.h"
#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

struct Row {
  tim_graph_op_kind_t kind;
  const char* name;
  const char* inner;
  double of_none;  ///< The result where nothing is reduced.
  /// Operators of one input before and after the inner one; null: none.
  const char* before = nullptr;
  const char* after = nullptr;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr Row kRows[] = {
    {tim_graph_op_reduce_sum, "ReduceSum", "ReduceSum", 0},
    {tim_graph_op_reduce_mean, "ReduceMean", "ReduceMean", kNan},
    {tim_graph_op_reduce_max, "ReduceMax", "ReduceMax", -kInfinity},
    {tim_graph_op_reduce_min, "ReduceMin", "ReduceMin", kInfinity},
    {tim_graph_op_reduce_prod, "ReduceProd", "ReduceProd", 1},
    {tim_graph_op_reduce_l1, "ReduceL1", "ReduceSum", 0, "Abs"},
    {tim_graph_op_reduce_l2, "ReduceL2", "ReduceSum", 0, "Square", "Sqrt"},
};

Status CheckAxesInput(const Op& op) {
  if (op.inputs.size() < 2) return OkStatus();
  return InvalidArgument(
      "axes are given as input 1 (tensor ", op.inputs[1].id,
      ") beside the attribute 'axes', whose default counts as given; give the "
      "attribute alone");
}

// Ascending, from 0 on.  Axes that are none are found when it is compiled, like
// those of other kinds.
Result<std::vector<int64_t>> AxesOf(const Op& op, int64_t rank) {
  const Dims& given = op.Ints(tim_graph_op_attr_axes);
  const std::string text =
      StrCat("attribute 'axes' {", StrJoin(given, ", "), "}");
  if (given.empty()) {
    return Unimplemented(text, " is empty, expected the axes to reduce");
  }
  std::vector<int64_t> axes;
  for (const int64_t axis : given) {
    const auto positive = PositiveAxis(axis, rank);
    if (!positive.ok()) {
      return Unimplemented(text, ": ", positive.status().message());
    }
    axes.push_back(*positive);
  }
  std::sort(axes.begin(), axes.end());
  const auto repeated = std::adjacent_find(axes.begin(), axes.end());
  if (repeated == axes.end()) return axes;
  return Unimplemented(text, " has axis ", *repeated, " twice");
}

Result<Dims> ReducedDims(const Op& op, const Dims& src) {
  TIM_ASSIGN_OR_RETURN(const auto axes,
                       AxesOf(op, static_cast<int64_t>(src.size())));
  Dims dims;
  for (size_t i = 0; i < src.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(),
                            static_cast<int64_t>(i))) {
      dims.push_back(src[i]);
    } else if (op.Bool(tim_graph_op_attr_keep_dims)) {
      dims.push_back(1);
    }
  }
  return dims;
}

Status LowerReduce(const Row& row, const Op& op, Lowering& lowering) {
  Formula f(lowering);
  const Tensor src = f.In(0);
  TIM_ASSIGN_OR_RETURN(const auto axes, AxesOf(op, src.rank()));
  std::vector<int64_t> inner;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    inner.push_back(InnerAxis(*axis, src.rank()));
  }
  Tensor made = row.before != nullptr ? f.Unary(row.before, src) : src;
  made = f.Unary(row.inner, made,
                 {{"axis", std::move(inner)},
                  {"keep_dims", op.Bool(tim_graph_op_attr_keep_dims)}});
  if (row.after != nullptr) made = f.Unary(row.after, made);
  return f.Store(0, made);
}

Status LowerEmpty(const Row& row, const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(const Dims dims,
                       ReducedDims(op, lowering.input(0).dims));
  Formula f(lowering);
  return f.Store(0, f.Try(lowering.Filled(row.of_none, dims)));
}

OpDef DefOf(const Row& row) {
  OpDef def;
  def.kind = row.kind;
  def.name = row.name;
  def.types = {{"T1", FloatTypes()}, {"T2", {tim_graph_s32}}};
  def.inputs = {{"src", "T1"}, {"axes", "T2", true}};
  def.outputs = {{"dst", "T1"}};
  def.attributes = {
      {.attribute = tim_graph_op_attr_axes, .default_value = Dims()},
      {.attribute = tim_graph_op_attr_keep_dims, .default_value = false}};
  def.rule = CheckAxesInput;
  // Values between several operators stay float32.
  def.takes_half = row.before == nullptr;
  def.lower = [row](const Op& op, Lowering& lowering) {
    return LowerReduce(row, op, lowering);
  };
  def.lower_empty = [row](const Op& op, Lowering& lowering) {
    return LowerEmpty(row, op, lowering);
  };
  def.empty_dims =
      [](const Op& op,
         const std::vector<Dims>& inputs) -> Result<std::vector<Dims>> {
    TIM_ASSIGN_OR_RETURN(Dims dims, ReducedDims(op, inputs[0]));
    return std::vector<Dims>{std::move(dims)};
  };
  return def;
}

}  // namespace

TIM_GRAPH_OPS(reductions) {
  for (const Row& row : kRows) table.Add(DefOf(row));
}

}  // namespace tim::graph
