// Layer normalisation, its form without a mean, and Softmax.
#include "models/onnx/ops/normalizations/normalize.h"

#include <utility>

#include "models/onnx/ops/compose.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/layernormalization.h"
#include "tim/vx/ops/logsoftmax.h"
#include "tim/vx/ops/moments.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/rmsnormalization.h"
#include "tim/vx/ops/simple_operations.h"
#include "tim/vx/ops/softmax.h"

namespace tim::models::onnx {
namespace {

std::vector<int> AxesFrom(int axis, int rank) {
  std::vector<int> axes;
  for (int i = axis; i < rank; ++i) axes.push_back(i);
  return axes;
}

// True for a parameter with an element for each of the normalised extents.
bool CoversAxes(const Value& parameter, const Value& x, int axis) {
  return parameter.dims == Dims(x.dims.begin() + axis, x.dims.end());
}

Status CheckParameter(const Value& parameter, const Value& x) {
  const Result<Dims> dims = BroadcastDims(parameter.dims, x.dims);
  if (dims.ok() && *dims == x.dims) return OkStatus();
  return InvalidArgument("a parameter ", Describe(parameter),
                         " does not broadcast to ", Describe(x));
}

// `x` as rows of all extents from `axis` on.
Result<Value> RowsFrom(GraphBuilder* builder, const Value& x, int axis) {
  if (axis == x.rank() - 1) return x;
  TIM_ASSIGN_OR_RETURN(const int64_t outer, Product(x.dims, 0, axis));
  TIM_ASSIGN_OR_RETURN(const int64_t inner,
                       Product(x.dims, axis, x.dims.size()));
  return builder->Reshape(x, {outer, inner});
}

Result<LayerNormalized> WithStatistics(GraphBuilder* builder, const Value& x,
                                       int axis, float epsilon,
                                       LayerNormalized made) {
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Value> moments,
      MomentsOf(builder, x, AxesFrom(axis, x.rank()), vx::DataType::FLOAT32));
  made.mean = moments[0];
  TIM_ASSIGN_OR_RETURN(const Value variance,
                       Scaled(builder, moments[1], 1.0f, epsilon));
  TIM_ASSIGN_OR_RETURN(made.inverse, Unary<vx::ops::Rsqrt>(builder, variance));
  return made;
}

}  // namespace

Result<std::vector<Value>> MomentsOf(GraphBuilder* builder, const Value& x,
                                     const std::vector<int>& axes,
                                     vx::DataType type) {
  std::vector<int32_t> graph_axes;
  Dims dims = x.dims;
  for (const int axis : axes) {
    graph_axes.push_back(GraphAxis(axis, x.rank()));
    dims[axis] = 1;
  }
  const Wanted wanted = Wanted::Of(type, dims);
  return builder->AddAll<vx::ops::Moments>(
      {x}, std::vector<Wanted>{wanted, wanted}, graph_axes, true);
}

Result<LayerNormalized> NormalizeLayer(GraphBuilder* builder, const Value& x,
                                       const Value& scale, const Value& bias,
                                       int axis, float epsilon,
                                       Statistics statistics) {
  TIM_RETURN_IF_ERROR(CheckParameter(scale, x));
  if (!bias.IsAbsent()) TIM_RETURN_IF_ERROR(CheckParameter(bias, x));
  TIM_ASSIGN_OR_RETURN(const int64_t inner,
                       Product(x.dims, axis, x.dims.size()));
  const bool direct = CoversAxes(scale, x, axis) &&
                      (bias.IsAbsent() || CoversAxes(bias, x, axis));
  Value gamma, beta;
  if (direct) {
    TIM_ASSIGN_OR_RETURN(gamma, builder->Reshape(scale, {inner}));
  } else {
    TIM_ASSIGN_OR_RETURN(gamma, FilledVector(*builder, 1.0f, inner));
  }
  if (direct && !bias.IsAbsent()) {
    TIM_ASSIGN_OR_RETURN(beta, builder->Reshape(bias, {inner}));
  } else {
    TIM_ASSIGN_OR_RETURN(beta, FilledVector(*builder, 0.0f, inner));
  }
  TIM_ASSIGN_OR_RETURN(const Value rows, RowsFrom(builder, x, axis));
  LayerNormalized made;
  TIM_ASSIGN_OR_RETURN(made.y,
                       builder->Add<vx::ops::LayerNormalization>(
                           {rows, beta, gamma}, Wanted::Of(x.type, rows.dims),
                           int32_t{0}, epsilon));
  TIM_ASSIGN_OR_RETURN(made.y, builder->Reshape(made.y, x.dims));
  if (!direct) {
    TIM_ASSIGN_OR_RETURN(
        made.y, Binary<vx::ops::Multiply>(builder, x.type, made.y, scale));
    if (!bias.IsAbsent()) {
      TIM_ASSIGN_OR_RETURN(made.y,
                           Binary<vx::ops::Add>(builder, x.type, made.y, bias));
    }
  }
  if (statistics == Statistics::kNone) return made;
  return WithStatistics(builder, x, axis, epsilon, std::move(made));
}

Result<Value> NormalizeByRms(GraphBuilder* builder, const Value& x,
                             const Value& scale, int axis, float epsilon) {
  TIM_RETURN_IF_ERROR(CheckParameter(scale, x));
  TIM_ASSIGN_OR_RETURN(const Value rows, RowsFrom(builder, x, axis));
  std::vector<Value> inputs = {rows};
  vx::DataType type = vx::DataType::FLOAT32;
  if (CoversAxes(scale, x, axis)) {
    TIM_ASSIGN_OR_RETURN(const Value gamma,
                         builder->Reshape(scale, {rows.dims.back()}));
    inputs.push_back(gamma);
    type = x.type;
  }
  TIM_ASSIGN_OR_RETURN(
      const Value made,
      builder->Add<vx::ops::RmsNormalization>(
          inputs, Wanted::Of(type, rows.dims), int32_t{0}, epsilon));
  TIM_ASSIGN_OR_RETURN(const Value normal, builder->Reshape(made, x.dims));
  if (inputs.size() == 2) return normal;
  return Binary<vx::ops::Multiply>(builder, x.type, normal, scale);
}

Result<Value> SoftmaxAlong(GraphBuilder* builder, const Value& x, int axis,
                           SoftmaxKind kind) {
  const int32_t graph_axis = GraphAxis(axis, x.rank());
  if (kind == SoftmaxKind::kSoftmax) {
    return Unary<vx::ops::Softmax>(builder, x, 1.0f, graph_axis);
  }
  return Unary<vx::ops::LogSoftmax>(builder, x, graph_axis);
}

}  // namespace tim::models::onnx
