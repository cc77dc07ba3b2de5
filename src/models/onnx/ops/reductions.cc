// Reductions, indices of extremes, and sums along an axis.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/half.h"
#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/arg.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/cumsum.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/onehot.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/reverse.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr DataType kFloat = DataType::FLOAT32;

/// Operand and axes of a node that reduces.
struct Reduction {
  Value x;
  std::vector<int32_t> axes;  ///< Counted as in the graph; empty: x stays.
  Dims kept;                  ///< Extents with 1 along the axes.
  Dims dims;                  ///< Extents of the result.
};

/// The opset from which on the axes of `op` are an operand.
int AxesOperandSince(const std::string& op) {
  return op == "ReduceSum" ? 13 : 18;
}

Result<Reduction> ReductionOf(Node& node) {
  Reduction reduction;
  TIM_ASSIGN_OR_RETURN(reduction.x, PlainOperand(node, 0));
  const int rank = reduction.x.rank();
  TIM_ASSIGN_OR_RETURN(
      const std::vector<int64_t> named,
      node.IntsSince(AxesOperandSince(node.op), 1, "axes", {}));
  TIM_ASSIGN_OR_RETURN(const int64_t keep, node.Int("keepdims", 1));
  TIM_ASSIGN_OR_RETURN(const int64_t no_op,
                       node.Int("noop_with_empty_axes", 0));
  std::vector<bool> is_reduced(rank, named.empty() && no_op == 0);
  for (const int64_t axis : named) {
    TIM_ASSIGN_OR_RETURN(const int positive, PositiveAxis(axis, rank));
    is_reduced[positive] = true;
  }
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t extent = reduction.x.dims[axis];
    reduction.kept.push_back(is_reduced[axis] ? 1 : extent);
    if (!is_reduced[axis]) {
      reduction.dims.push_back(extent);
      continue;
    }
    reduction.axes.push_back(GraphAxis(axis, rank));
    if (keep != 0) reduction.dims.push_back(1);
  }
  // A scalar has one axis in the graph.
  if (rank == 0 && no_op == 0) reduction.axes.push_back(0);
  return reduction;
}

/// Op over `x` in place of the operand, as `type`.
template <typename Op>
Result<Value> Reduced(Node& node, const Reduction& reduction, const Value& x,
                      DataType type) {
  const bool keeps = reduction.dims == reduction.kept;
  return node.builder->Add<Op>({x}, Wanted::Of(type, reduction.dims),
                               reduction.axes, keeps);
}

/// A reduction of numbers; fails for other operands, and, with `floats`, for
/// integers.
Result<Reduction> NumberReduction(Node& node, bool floats = false) {
  TIM_ASSIGN_OR_RETURN(Reduction reduction, ReductionOf(node));
  if (floats) {
    TIM_ASSIGN_OR_RETURN(reduction.x, FloatOperand(node, 0));
  } else {
    TIM_ASSIGN_OR_RETURN(reduction.x, NumberOperand(node, 0));
  }
  return reduction;
}

/// Operand 0 as the result, where no axis is reduced.
Status Unreduced(Node& node, const Reduction& reduction) {
  return node.SetOutput(0, reduction.x);
}

/// Op of operand 0: what an operator does besides reducing, where no axis is
/// reduced.
template <typename Op>
Status Unreduced(Node& node, const Reduction& reduction) {
  return node.SetOutput(0, Pointwise<Op>(node, reduction.x, reduction.x.type));
}

/// Op, or, of truth values, OfBools.
template <typename Op, typename OfBools>
Status Extreme(Node& node) {
  TIM_ASSIGN_OR_RETURN(Reduction reduction, ReductionOf(node));
  const DataType type = reduction.x.type;
  if (!IsBool(type)) {
    TIM_ASSIGN_OR_RETURN(reduction.x, NumberOperand(node, 0));
  }
  if (reduction.axes.empty()) return Unreduced(node, reduction);
  return node.SetOutput(
      0, IsBool(type) ? Reduced<OfBools>(node, reduction, reduction.x, type)
                      : Reduced<Op>(node, reduction, reduction.x, type));
}

template <typename Op>
Status OfNumbers(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, NumberReduction(node));
  if (reduction.axes.empty()) return Unreduced(node, reduction);
  return node.SetOutput(
      0, Reduced<Op>(node, reduction, reduction.x, reduction.x.type));
}

/// Means of integers are truncated.
Status Mean(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, NumberReduction(node));
  const Value& x = reduction.x;
  if (reduction.axes.empty()) return Unreduced(node, reduction);
  if (IsFloat(x.type)) {
    return node.SetOutput(0,
                          Reduced<ops::ReduceMean>(node, reduction, x, x.type));
  }
  int64_t count = 1;
  for (size_t axis = 0; axis < x.dims.size(); ++axis) {
    if (reduction.kept[axis] != x.dims[axis]) count *= x.dims[axis];
  }
  if (count > std::numeric_limits<int32_t>::max()) {
    return Unimplemented("a mean of ", count, " integers");
  }
  const DataType sums = IsUnsigned(x.type) ? DataType::UINT32 : DataType::INT32;
  TIM_ASSIGN_OR_RETURN(Value sum,
                       Reduced<ops::ReduceSum>(node, reduction, x, sums));
  const Value divisor = IntScalar(node, static_cast<int32_t>(count));
  return node.SetOutput(0, Broadcasting<ops::Div>(node, sum, divisor, x.type));
}

Status L1(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, NumberReduction(node));
  const Value& x = reduction.x;
  if (reduction.axes.empty()) return Unreduced<ops::Abs>(node, reduction);
  TIM_ASSIGN_OR_RETURN(Value size, Pointwise<ops::Abs>(node, x, x.type));
  return node.SetOutput(0,
                        Reduced<ops::ReduceSum>(node, reduction, size, x.type));
}

/// Type in which squares and exponentials of `type` are added.
DataType SumType(DataType type) { return IsFloat(type) ? kFloat : type; }

Status SumSquare(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, NumberReduction(node));
  const Value& x = reduction.x;
  if (reduction.axes.empty()) return Unreduced<ops::Square>(node, reduction);
  TIM_ASSIGN_OR_RETURN(Value square,
                       Pointwise<ops::Square>(node, x, SumType(x.type)));
  return node.SetOutput(
      0, Reduced<ops::ReduceSum>(node, reduction, square, x.type));
}

Status L2(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, NumberReduction(node, true));
  const Value& x = reduction.x;
  if (reduction.axes.empty()) return Unreduced<ops::Abs>(node, reduction);
  TIM_ASSIGN_OR_RETURN(Value square, Pointwise<ops::Square>(node, x, kFloat));
  TIM_ASSIGN_OR_RETURN(
      Value sum, Reduced<ops::ReduceSum>(node, reduction, square, kFloat));
  return node.SetOutput(0, Pointwise<ops::Sqrt>(node, sum, x.type));
}

Status LogSum(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, NumberReduction(node, true));
  const Value& x = reduction.x;
  if (reduction.axes.empty()) return Unreduced<ops::Log>(node, reduction);
  TIM_ASSIGN_OR_RETURN(Value sum,
                       Reduced<ops::ReduceSum>(node, reduction, x, kFloat));
  return node.SetOutput(0, Pointwise<ops::Log>(node, sum, x.type));
}

/// ln of the sum of e^(x - m), plus m: the greatest x, which is made finite, so
/// that infinities do not cancel.
Status LogSumExp(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, NumberReduction(node, true));
  const Value& x = reduction.x;
  if (reduction.axes.empty()) return Unreduced(node, reduction);
  Reduction keeping = reduction;
  keeping.dims = reduction.kept;
  TIM_ASSIGN_OR_RETURN(Value most,
                       Reduced<ops::ReduceMax>(node, keeping, x, kFloat));
  const float limit = std::numeric_limits<float>::max();
  TIM_ASSIGN_OR_RETURN(most,
                       Pointwise<ops::Clip>(node, most, kFloat, -limit, limit));
  TIM_ASSIGN_OR_RETURN(Value below,
                       Broadcasting<ops::Sub>(node, x, most, kFloat));
  TIM_ASSIGN_OR_RETURN(Value power, Pointwise<ops::Exp>(node, below, kFloat));
  TIM_ASSIGN_OR_RETURN(Value sum,
                       Reduced<ops::ReduceSum>(node, keeping, power, kFloat));
  TIM_ASSIGN_OR_RETURN(Value log, Pointwise<ops::Log>(node, sum, kFloat));
  TIM_ASSIGN_OR_RETURN(Value made,
                       Broadcasting<ops::Add>(node, log, most, x.type));
  return node.SetOutput(0, node.builder->Reshape(made, reduction.dims));
}

/// `dims` without `axis`.
Dims Without(Dims dims, int axis) {
  dims.erase(dims.begin() + axis);
  return dims;
}

/// Operand 0, which has an axis and elements along it.
Result<Value> VectorOperand(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, NumberOperand(node, 0));
  if (x.rank() > 0 && x.ElementCount() > 0) return x;
  return Unimplemented("operand 0 is ", Describe(x),
                       "; a rank of 1 or more and elements are taken");
}

/// Indices along `axis` of the extremes that Op finds, the first of equal ones.
template <typename Op>
Result<Value> FirstIndex(Node& node, const Value& x, int axis) {
  return node.builder->Add<Op>(
      {x}, Wanted::Of(DataType::INT64, Without(x.dims, axis)),
      static_cast<int32_t>(GraphAxis(axis, x.rank())));
}

template <typename Op>
Status Arg(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, VectorOperand(node));
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, x.rank()));
  TIM_ASSIGN_OR_RETURN(const int64_t keep, node.Int("keepdims", 1));
  TIM_ASSIGN_OR_RETURN(const int64_t last, node.Int("select_last_index", 0));
  const Dims extents = x.dims;
  if (last != 0) {
    // The last one is the first one from the other end.
    TIM_ASSIGN_OR_RETURN(x,
                         node.builder->Add<ops::Reverse>(
                             {x}, Wanted::Of(x.type, x.dims),
                             std::vector<int32_t>{GraphAxis(axis, x.rank())}));
  }
  TIM_ASSIGN_OR_RETURN(Value index, FirstIndex<Op>(node, x, axis));
  if (last != 0) {
    const auto end = static_cast<int32_t>(extents[axis] - 1);
    TIM_ASSIGN_OR_RETURN(
        index, Broadcasting<ops::Sub>(node, IntScalar(node, end), index,
                                      DataType::INT64));
  }
  if (keep == 0) return node.SetOutput(0, std::move(index));
  Dims dims = extents;
  dims[axis] = 1;
  return node.SetOutput(0, node.builder->Reshape(index, dims));
}

/// Sums along an axis, which is an operand.
Status CumSum(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, NumberOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> axis, node.ConstantInts(1));
  if (axis.size() != 1) {
    return InvalidArgument("operand 1 (axis) has ", axis.size(),
                           " elements, expected 1");
  }
  TIM_ASSIGN_OR_RETURN(const int positive, PositiveAxis(axis[0], x.rank()));
  TIM_ASSIGN_OR_RETURN(const int64_t exclusive, node.Int("exclusive", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t reverse, node.Int("reverse", 0));
  return node.SetOutput(
      0,
      Pointwise<ops::CumSum>(
          node, x, x.type, static_cast<int32_t>(GraphAxis(positive, x.rank())),
          static_cast<int32_t>(exclusive != 0),
          static_cast<int32_t>(reverse != 0)));
}

/// 1 where the first greatest element along the axis is, else 0.  Before opset
/// 13 all axes from `axis` on are one.
Status Hardmax(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, VectorOperand(node));
  TIM_RETURN_IF_ERROR(FloatOperand(node, 0).status());
  const bool is_flat = node.opset < 13;
  TIM_ASSIGN_OR_RETURN(int axis, node.Axis("axis", is_flat ? 1 : -1, x.rank()));
  const Dims dims = x.dims;
  if (is_flat) {
    int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= dims[i];
    TIM_ASSIGN_OR_RETURN(
        x, node.builder->Reshape(x, {outer, x.ElementCount() / outer}));
    axis = 1;
  }
  const int64_t depth = x.dims[axis];
  if (depth > std::numeric_limits<int32_t>::max()) {
    return Unimplemented("an axis of ", depth, " elements");
  }
  const auto graph_axis = static_cast<int32_t>(GraphAxis(axis, x.rank()));
  TIM_ASSIGN_OR_RETURN(Value index, FirstIndex<ops::ArgMax>(node, x, axis));
  // The index of a vector has one axis in the graph, beside which depth lies.
  Dims made = x.dims;
  if (x.rank() == 1) made = {1, depth};
  TIM_ASSIGN_OR_RETURN(
      Value hot, node.builder->Add<ops::OneHot>(
                     {index}, Wanted::Of(x.type, made),
                     static_cast<int32_t>(depth), 1.0f, 0.0f, graph_axis));
  return node.SetOutput(0, node.builder->Reshape(hot, dims));
}

/// Results of reductions of no elements.
float OfNoElements(const std::string& op) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (op == "ReduceSum" || op == "ReduceL1" || op == "ReduceL2" ||
      op == "ReduceSumSquare") {
    return 0.0f;
  }
  if (op == "ReduceProd") return 1.0f;
  if (op == "ReduceMin") return kInfinity;
  if (op == "ReduceMean") return std::numeric_limits<float>::quiet_NaN();
  return -kInfinity;
}

/// Tensors of graphs have elements, but constants of a model may have none.
Status ReduceNothing(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(node));
  TIM_RETURN_IF_ERROR(FloatOperand(node, 0).status());
  if (reduction.axes.empty()) return Unreduced(node, reduction);
  const float value = OfNoElements(node.op);
  const DataType type = reduction.x.type;
  const uint16_t half = FloatToHalf(value);
  const void* element = &value;
  if (type == DataType::FLOAT16) element = &half;
  TIM_ASSIGN_OR_RETURN(HostArray array,
                       FilledArray(type, reduction.dims, element));
  return node.SetOutput(0, node.builder->Constant(std::move(array)));
}

/// `function`, where operand 0 has elements.
template <NodeFunction function>
Status Reduce(Node& node) {
  TIM_RETURN_IF_ERROR(
      CheckForm(node, 2, {"axes", "keepdims", "noop_with_empty_axes"}));
  const bool is_empty = node.Has(0) && node.inputs[0].ElementCount() == 0;
  return is_empty ? ReduceNothing(node) : function(node);
}

}  // namespace

void AddReductions(OperatorTable* table) {
  const auto add = [table](const char* op, NodeFunction function,
                           int first = 1) {
    table->Add("", op, first, function);
  };
  add("ReduceSum", Reduce<OfNumbers<ops::ReduceSum>>);
  add("ReduceProd", Reduce<OfNumbers<ops::ReduceProd>>);
  add("ReduceMax", Reduce<Extreme<ops::ReduceMax, ops::ReduceAny>>);
  add("ReduceMin", Reduce<Extreme<ops::ReduceMin, ops::ReduceAll>>);
  add("ReduceMean", Reduce<Mean>);
  add("ReduceL1", Reduce<L1>);
  add("ReduceL2", Reduce<L2>);
  add("ReduceSumSquare", Reduce<SumSquare>);
  add("ReduceLogSum", Reduce<LogSum>);
  add("ReduceLogSumExp", Reduce<LogSumExp>);
  add("ArgMax",
      Strict<Arg<ops::ArgMax>, 1, "axis", "keepdims", "select_last_index">);
  add("ArgMin",
      Strict<Arg<ops::ArgMin>, 1, "axis", "keepdims", "select_last_index">);
  add("CumSum", Strict<CumSum, 2, "exclusive", "reverse">, 11);
  add("Hardmax", Strict<Hardmax, 1, "axis">);
}

}  // namespace tim::models::onnx
