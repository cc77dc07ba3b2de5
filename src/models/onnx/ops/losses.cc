// Losses of classes, as models of training have them.
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/logsoftmax.h"
#include "tim/vx/ops/onehot.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr DataType kFloat = DataType::FLOAT32;

/// Operands and attributes of both losses: scores {N, C, ...} and classes {N,
/// ...}.
struct LossNode {
  Value scores;
  Value classes;
  Value weights;  ///< {C}; may be absent.
  std::optional<int32_t> ignored;
  std::string reduction;
};

Result<LossNode> ReadLoss(Node& node) {
  LossNode loss;
  TIM_ASSIGN_OR_RETURN(loss.scores, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(loss.classes, PlainOperand(node, 1));
  if (!IsInteger(loss.classes.type)) {
    return InvalidArgument("operand 1 is ", TypeText(loss.classes.type),
                           "; integers are taken");
  }
  Dims expected = loss.scores.dims;
  if (expected.size() < 2) {
    return InvalidArgument("operand 0 is ", Describe(loss.scores),
                           "; a rank of 2 or more is taken");
  }
  const int64_t count = expected[1];
  expected.erase(expected.begin() + 1);
  if (loss.classes.dims != expected) {
    return InvalidArgument("operand 1 is ", Describe(loss.classes),
                           ", expected [", StrJoin(expected, ","), "]");
  }
  if (count > std::numeric_limits<int32_t>::max()) {
    return Unimplemented(count, " classes");
  }
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(loss.weights, FloatOperand(node, 2));
    if (loss.weights.dims != Dims{count}) {
      return InvalidArgument("operand 2 is ", Describe(loss.weights),
                             ", expected [", count, "]");
    }
  }
  if (node.HasAttribute("ignore_index")) {
    TIM_ASSIGN_OR_RETURN(const int64_t ignored, node.Int("ignore_index", 0));
    const auto narrow = static_cast<int32_t>(ignored);
    // A class beyond 32 bits is none.
    if (narrow == ignored) loss.ignored = narrow;
  }
  TIM_ASSIGN_OR_RETURN(loss.reduction, node.Text("reduction", "mean"));
  if (loss.reduction == "mean" || loss.reduction == "sum" ||
      loss.reduction == "none") {
    return loss;
  }
  return InvalidArgument("attribute 'reduction' is '", loss.reduction,
                         "'; 'none', 'sum' and 'mean' are taken");
}

/// The sum over the classes of `x` where `is_class`; {N, ...}.
Result<Value> OfClass(Node& node, const LossNode& loss, const Value& is_class,
                      const Value& x) {
  TIM_ASSIGN_OR_RETURN(Value chosen, node.builder->Add<ops::Select>(
                                         {is_class, x, Scalar(node, 0)},
                                         Wanted::Of(kFloat, loss.scores.dims)));
  const int32_t axis = GraphAxis(1, loss.scores.rank());
  return node.builder->Add<ops::ReduceSum>(
      {chosen}, Wanted::Of(kFloat, loss.classes.dims),
      std::vector<int32_t>{axis}, false);
}

/// The weight of each element; absent where all are 1.
Result<Value> WeightsOf(Node& node, const LossNode& loss,
                        const Value& is_class) {
  Value made;
  if (!loss.weights.IsAbsent()) {
    Dims column(loss.scores.rank() - 1, 1);
    column[0] = loss.scores.dims[1];
    TIM_ASSIGN_OR_RETURN(Value weights,
                         node.builder->Reshape(loss.weights, column));
    TIM_ASSIGN_OR_RETURN(made, OfClass(node, loss, is_class, weights));
  }
  if (!loss.ignored.has_value()) return made;
  TIM_ASSIGN_OR_RETURN(
      Value counts,
      Broadcasting<ops::NotEqual>(
          node, loss.classes, IntScalar(node, *loss.ignored), DataType::BOOL8));
  if (made.IsAbsent()) return Pointwise<ops::Cast>(node, counts, kFloat);
  return node.builder->Add<ops::Select>({counts, made, Scalar(node, 0)},
                                        Wanted::Of(kFloat, loss.classes.dims));
}

/// The sum of all elements, a scalar.
Result<Value> Total(Node& node, const Value& x, DataType type) {
  std::vector<int32_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return node.builder->Add<ops::ReduceSum>({x}, Wanted::Of(type, {}), axes,
                                           false);
}

/// -scores of each element's class, weighted and reduced.
Status SetLoss(Node& node, const LossNode& loss, const Value& scores) {
  const int32_t axis = GraphAxis(1, scores.rank());
  const auto depth = static_cast<int32_t>(scores.dims[1]);
  TIM_ASSIGN_OR_RETURN(
      Value is_class,
      node.builder->Add<ops::OneHot>({loss.classes},
                                     Wanted::Of(DataType::BOOL8, scores.dims),
                                     depth, 1.0f, 0.0f, axis));
  TIM_ASSIGN_OR_RETURN(const Value weights, WeightsOf(node, loss, is_class));
  TIM_ASSIGN_OR_RETURN(Value made, OfClass(node, loss, is_class, scores));
  if (!weights.IsAbsent()) {
    TIM_ASSIGN_OR_RETURN(
        made, Broadcasting<ops::Multiply>(node, made, weights, kFloat));
  }
  const DataType type = loss.scores.type;
  const bool is_mean = loss.reduction == "mean";
  if (loss.reduction == "none") {
    return node.SetOutput(0, Pointwise<ops::Neg>(node, made, type));
  }
  TIM_ASSIGN_OR_RETURN(made, Pointwise<ops::Neg>(node, made, kFloat));
  TIM_ASSIGN_OR_RETURN(Value sum, Total(node, made, is_mean ? kFloat : type));
  if (!is_mean) return node.SetOutput(0, std::move(sum));
  const auto count = static_cast<float>(loss.classes.ElementCount());
  Value divisor = Scalar(node, count);
  if (!weights.IsAbsent()) {
    TIM_ASSIGN_OR_RETURN(divisor, Total(node, weights, kFloat));
  }
  return node.SetOutput(0, Broadcasting<ops::Div>(node, sum, divisor, type));
}

Status NegativeLogLikelihood(Node& node) {
  TIM_ASSIGN_OR_RETURN(const LossNode loss, ReadLoss(node));
  return SetLoss(node, loss, loss.scores);
}

Status SoftmaxCrossEntropy(Node& node) {
  TIM_ASSIGN_OR_RETURN(const LossNode loss, ReadLoss(node));
  const int32_t axis = GraphAxis(1, loss.scores.rank());
  TIM_ASSIGN_OR_RETURN(Value logs, Pointwise<ops::LogSoftmax>(
                                       node, loss.scores, kFloat, axis, 1.0f));
  TIM_RETURN_IF_ERROR(SetLoss(node, loss, logs));
  if (!node.Wants(1)) return OkStatus();
  return node.SetOutput(1, node.builder->Cast(logs, loss.scores.type));
}

}  // namespace

void AddLosses(OperatorTable* table) {
  table->Add("", "NegativeLogLikelihoodLoss", 12,
             Strict<NegativeLogLikelihood, 3, "reduction", "ignore_index">);
  table->Add("", "SoftmaxCrossEntropyLoss", 12,
             Strict<SoftmaxCrossEntropy, 3, "reduction", "ignore_index">);
}

}  // namespace tim::models::onnx
