// LayerNormalization, LpNormalization and MeanVarianceNormalization.
#include <limits>
#include <string>
#include <vector>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/normalizations/normalize.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

Status CheckStash(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const int64_t stash, node.Int("stash_type", 1));
  if (stash == 1) return OkStatus();
  return Unimplemented("attribute 'stash_type' is ", stash,
                       ", taken is 1, float32");
}

Status LayerNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"axis", "epsilon", "stash_type"}));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.Has(i)) TIM_RETURN_IF_ERROR(CheckFloat(node, i));
  }
  TIM_RETURN_IF_ERROR(CheckStash(node));
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", -1, x.rank()));
  TIM_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-5f));
  const bool statistics = node.Wants(1) || node.Wants(2);
  TIM_ASSIGN_OR_RETURN(
      const LayerNormalized made,
      NormalizeLayer(node.builder, x, node.inputs[1], OptionalOperand(node, 2),
                     axis, epsilon,
                     statistics ? Statistics::kWanted : Statistics::kNone));
  if (node.Wants(1)) TIM_RETURN_IF_ERROR(node.SetOutput(1, made.mean));
  if (node.Wants(2)) TIM_RETURN_IF_ERROR(node.SetOutput(2, made.inverse));
  return node.SetOutput(0, made.y);
}

Status SimplifiedLayerNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 2));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"axis", "epsilon", "stash_type"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  TIM_RETURN_IF_ERROR(CheckStash(node));
  TIM_RETURN_IF_ERROR(CheckOutputs(node, 1, "the statistic is not made"));
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", -1, x.rank()));
  TIM_ASSIGN_OR_RETURN(const float epsilon, node.Float("epsilon", 1e-5f));
  return node.SetOutput(
      0, NormalizeByRms(node.builder, x, node.inputs[1], axis, epsilon));
}

// x / norm along one axis; a row of zeros stays one.
Status LpNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"axis", "p"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  GraphBuilder* builder = node.builder;
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", -1, x.rank()));
  TIM_ASSIGN_OR_RETURN(const int64_t p, node.Int("p", 2));
  if (p != 1 && p != 2) {
    return InvalidArgument("attribute 'p' is ", p, ", expected 1 or 2");
  }
  constexpr vx::DataType kReal = vx::DataType::FLOAT32;
  const Wanted sizes = Wanted::Of(kReal, x.dims);
  Value norm;
  if (p == 1) {
    TIM_ASSIGN_OR_RETURN(norm, builder->Add<vx::ops::Abs>({x}, sizes));
  } else {
    TIM_ASSIGN_OR_RETURN(norm, builder->Add<vx::ops::Square>({x}, sizes));
  }
  TIM_ASSIGN_OR_RETURN(norm,
                       Reduced<vx::ops::ReduceSum>(builder, norm, {axis}));
  if (p == 2) {
    TIM_ASSIGN_OR_RETURN(norm, Unary<vx::ops::Sqrt>(builder, norm));
  }
  TIM_ASSIGN_OR_RETURN(
      norm, Binary<vx::ops::Maximum>(
                builder, kReal, norm,
                ScalarOf(*builder, std::numeric_limits<float>::min())));
  return node.SetOutput(0, Binary<vx::ops::Div>(builder, x.type, x, norm));
}

Status MeanVarianceNormalization(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"axes"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  GraphBuilder* builder = node.builder;
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const Dims given, node.Ints("axes", {0, 2, 3}));
  std::vector<int> axes;
  for (const int64_t each : given) {
    TIM_ASSIGN_OR_RETURN(const int axis, PositiveAxis(each, x.rank()));
    axes.push_back(axis);
  }
  if (axes.empty()) return InvalidArgument("attribute 'axes' names none");
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> moments,
                       MomentsOf(builder, x, axes, vx::DataType::FLOAT32));
  constexpr float kLeastDeviation = 1e-9f;
  TIM_ASSIGN_OR_RETURN(Value deviation,
                       Unary<vx::ops::Sqrt>(builder, moments[1]));
  TIM_ASSIGN_OR_RETURN(deviation,
                       Scaled(builder, deviation, 1.0f, kLeastDeviation));
  TIM_ASSIGN_OR_RETURN(
      const Value centered,
      Binary<vx::ops::Sub>(builder, vx::DataType::FLOAT32, x, moments[0]));
  return node.SetOutput(
      0, Binary<vx::ops::Div>(builder, x.type, centered, deviation));
}

}  // namespace

void AddLayerNormalizations(OperatorTable* table) {
  // ONNX Runtime has them in this domain before opset 17, too.
  table->Add("", "LayerNormalization", 1, LayerNormalization);
  table->Add("", "SimplifiedLayerNormalization", 1,
             SimplifiedLayerNormalization);
  table->Add("com.microsoft", "LayerNormalization", 1, LayerNormalization);
  table->Add("com.microsoft", "SimplifiedLayerNormalization", 1,
             SimplifiedLayerNormalization);
  table->Add("", "LpNormalization", 1, LpNormalization);
  table->Add("", "MeanVarianceNormalization", 9, MeanVarianceNormalization);
}

}  // namespace tim::models::onnx
